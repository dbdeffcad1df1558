// Packs (see view/packing.py) to arrays, and where they come from: a server, or this file itself.
"use strict";

function unpack(buffer) {
  const head = new DataView(buffer), count = head.getUint32(0, true), blocks = [];
  let at = 4 + 4 * count;
  at += (8 - at % 8) % 8;
  for (let k = 0; k < count; k++) {
    const size = head.getUint32(4 + 4 * k, true);
    blocks.push(buffer.slice(at, at + size));
    at += size + (8 - size % 8) % 8;
  }
  return blocks;
}

function places(block) { // boxed places to floats
  const box = new Float32Array(block, 0, 6), u = new Uint16Array(block, 24), out = new Float32Array(u.length);
  for (let i = 0; i < u.length; i += 3) {
    out[i] = box[0] + u[i] * box[3];
    out[i + 1] = box[1] + u[i + 1] * box[4];
    out[i + 2] = box[2] + u[i + 2] * box[5];
  }
  return out;
}

function normalsOf(vertices, faces) { // area-weighted, one per vertex
  const out = new Float32Array(vertices.length);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = vertices[b] - vertices[a], uy = vertices[b + 1] - vertices[a + 1], uz = vertices[b + 2] - vertices[a + 2];
    const vx = vertices[c] - vertices[a], vy = vertices[c + 1] - vertices[a + 1], vz = vertices[c + 2] - vertices[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const k of [a, b, c]) { out[k] += x; out[k + 1] += y; out[k + 2] += z; }
  }
  for (let i = 0; i < out.length; i += 3) {
    const l = Math.hypot(out[i], out[i + 1], out[i + 2]) || 1;
    out[i] /= l; out[i + 1] /= l; out[i + 2] /= l;
  }
  return out;
}

function openStage(buffer) {
  const blocks = unpack(buffer), stage = JSON.parse(new TextDecoder().decode(blocks[0]));
  for (const mesh of stage.meshes) {
    mesh.vertices = places(blocks[mesh.vertices]);
    mesh.faces = new Uint32Array(blocks[mesh.faces]);
    mesh.normals = normalsOf(mesh.vertices, mesh.faces);
    mesh.box = boxOf(mesh.vertices);
  }
  for (const surface of stage.surfaces)
    if (surface.faces !== null) surface.faces = new Uint32Array(blocks[surface.faces]);
  for (const lines of stage.lines) {
    lines.offsets = new Uint32Array(blocks[lines.offsets]);
    lines.radius = new Float32Array(blocks[lines.radius]);
  }
  return stage;
}

function openFrame(stage, blocks) { // everything at one instant, or nothing
  let at = 0;
  const next = () => blocks[at++];
  const frame = { poses: new Float32Array(next()), surfaces: [], lines: [], points: [] };
  for (const surface of stage.surfaces) {
    const now = { vertices: places(next()) };
    now.faces = surface.faces === null ? new Uint32Array(next()) : surface.faces;
    now.values = surface.value ? new Uint16Array(next()) : null;
    now.normals = now.vertices.length ? normalsOf(now.vertices, now.faces) : new Float32Array(0);
    frame.surfaces.push(now);
  }
  for (const lines of stage.lines)
    frame.lines.push({ points: places(next()), values: lines.value ? new Uint16Array(next()) : null, force: lines.pulls ? new Uint16Array(next()) : null });
  for (const _ of stage.points) frame.points.push(places(next()));
  return frame;
}

function openSignals(stage, buffer) {
  const blocks = unpack(buffer);
  return { time: new Float64Array(blocks[0]), series: stage.signals.map((_, k) => new Float32Array(blocks[k + 1])) };
}

function boxOf(vertices) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < vertices.length; i++) {
    const c = i % 3;
    if (vertices[i] < low[c]) low[c] = vertices[i];
    if (vertices[i] > high[c]) high[c] = vertices[i];
  }
  return { low, high };
}

function valueOf(part, u) { return u === 65535 ? NaN : part.range[0] + (part.range[1] - part.range[0]) * u / 65534; }

function half(u) { // a number of half precision
  const sign = u >> 15 ? -1 : 1, e = u >> 10 & 31, m = u & 1023;
  return e === 31 ? (m ? NaN : sign * Infinity) : sign * (e ? (1 + m / 1024) * 2 ** (e - 15) : m * 2 ** -24);
}

// How far a joint has turned [rad]: the rotation vector of a body, in the axes of the body that it hangs on, from its rest.
function turned(joint, poses, i, parent) { // quaternions w x y z from poses[i], and from poses[parent] if that is >= 0
  const times = (a, b) => [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
  const back = a => [a[0], -a[1], -a[2], -a[3]], own = poses.slice(i, i + 4);
  const base = parent < 0 ? [1, 0, 0, 0] : poses.slice(parent, parent + 4);
  const q = times(times(back(base), own), back(joint.rest)), s = q[0] < 0 ? -1 : 1, l = Math.hypot(q[1], q[2], q[3]);
  const by = l > 1e-9 ? 2 * Math.atan2(l, s * q[0]) / l : 2;
  return [q[1], q[2], q[3]].map(x => s * by * x);
}

function lengthOf(lines, points, i) {
  let sum = 0;
  for (let k = lines.offsets[i] + 1; k < lines.offsets[i + 1]; k++)
    sum += Math.hypot(points[3 * k] - points[3 * k - 3], points[3 * k + 1] - points[3 * k - 2], points[3 * k + 2] - points[3 * k - 1]);
  return sum;
}

class Served { // frames from a server
  constructor(r) { this.r = r; }
  async get(path) {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()) || `${path}: ${answer.status}`);
    return answer.arrayBuffer();
  }
  async load() { this.stage = openStage(await this.get(`/stage/${this.r}`)); return this; }
  async frame(i) { return openFrame(this.stage, unpack(await this.get(`/frame/${this.r}/${i}`))); }
  async signals() { return openSignals(this.stage, await this.get(`/signals/${this.r}`)); }
  async line(which, i) { return unpack(await this.get(`/line/${this.r}/${which}/${i}`)).map(b => new Float64Array(b)); }
  async body(i) { return unpack(await this.get(`/body/${this.r}/${i}`)).map(b => new Float64Array(b)); }
  async times() { return (await (await fetch(`/time/${this.r}`, { cache: "no-store" })).json()).time; }
}

class Held { // frames in this file: packed alike, deflated, in base 64
  constructor(r) { this.r = r; }
  async load() {
    const text = document.getElementById(`recording-${this.r}`).textContent.trim();
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const parts = unpack(await new Response(stream).arrayBuffer());
    this.stage = openStage(parts[0]);
    this.packed = { signals: parts[1], frames: undelta(parts.slice(2)) };
    return this;
  }
  async frame(i) { return openFrame(this.stage, this.packed.frames[i]); }
  async signals() { return openSignals(this.stage, this.packed.signals); }
  async line(which, i) {
    const lines = this.stage.lines[which], rows = [[], [], [], []];
    for (let k = 0; k < this.packed.frames.length; k++) {
      const now = (await this.frame(k)).lines[which];
      rows[0].push(this.stage.time[k]);
      rows[1].push(now.values ? valueOf(lines, now.values[i]) : NaN);
      rows[2].push(lengthOf(lines, now.points, i));
      rows[3].push(now.force ? half(now.force[i]) : NaN);
    }
    return rows;
  }
  async body(i) {
    const rows = Array.from({ length: 12 }, () => []), joint = this.stage.joints.find(j => j.body === i), base = joint ? joint.parent : -1;
    for (let k = 0; k < this.packed.frames.length; k++) {
      const poses = (await this.frame(k)).poses;
      rows[0].push(this.stage.time[k]);
      for (let c = 0; c < 7; c++) rows[c + 1].push(poses[7 * i + c]);
      for (let c = 3; c < 7; c++) rows[c + 5].push(base < 0 ? +(c === 3) : poses[7 * base + c]);
    }
    return rows;
  }
  async times() { return this.stage.time; }
}

// How view/sharing.py tells the blocks of a frame: as they are, or as differences (from the block a frame before, or from
// the row before), folded so that small ones are small numbers, low bytes first, then high ones.
function undelta(frames) {
  const out = [];
  for (const packed of frames) {
    const blocks = unpack(packed), kinds = new Uint8Array(blocks[0]), before = out[out.length - 1];
    out.push(blocks.slice(1).map((block, k) => {
      if (kinds[k] === 0) return block;
      const width = kinds[k] === 2 ? 4 : 2, bytes = new Uint8Array(block), n = bytes.length / width;
      const now = width === 4 ? new Uint32Array(n) : new Uint16Array(n);
      for (let i = 0; i < n; i++) {
        let u = 0;
        for (let b = width - 1; b >= 0; b--) u = u * 256 + bytes[b * n + i];
        now[i] = u % 2 ? -((u + 1) / 2) : u / 2;
      }
      if (kinds[k] === 1) { const old = new Uint16Array(before[k]); for (let i = 0; i < n; i++) now[i] += old[i]; }
      if (kinds[k] === 2) for (let i = 1; i < n; i++) now[i] += now[i - 1];
      if (kinds[k] === 3) for (let i = 15; i < n; i++) now[i] += now[i - 3]; // after a box of six floats
      return now.buffer;
    }));
  }
  return out;
}
