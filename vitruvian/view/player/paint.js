// A stage at one frame, drawn by WebGL 2. Everything of a frame is handed over before anything is drawn.
"use strict";

// Layers that lie within a skin; with none of them shown there is nothing to be seen through it
const INNER = new Set(["bones", "muscles", "ligaments", "elements", "belly", "diaphragm", "lattice", "mesh"]);

const LIT = `
vec3 lit(vec3 base, vec3 n, vec3 eye, float gloss) {
  vec3 key = normalize(uKey), h = normalize(key + eye);
  float warm = max(dot(n, key), 0.0), sky = 0.5 + 0.5 * n.z;
  vec3 light = mix(vec3(0.40, 0.37, 0.33), vec3(0.62, 0.66, 0.72), sky) + vec3(0.62, 0.57, 0.50) * warm;
  return pow(base, vec3(2.2)) * light + gloss * pow(max(dot(n, h), 0.0), 40.0);
}
vec4 shown(vec3 light, float a) { return vec4(pow(clamp(light, 0.0, 1.0), vec3(1.0 / 2.2)), a); }`;

const MESH_VS = `#version 300 es
layout(location=0) in vec3 aPlace; layout(location=1) in vec3 aNormal; layout(location=2) in float aValue;
uniform mat4 uView, uModel, uShadow; out vec3 vPlace, vNormal; out float vValue;
void main() {
  vec4 p = uShadow * (uModel * vec4(aPlace, 1.0));
  vPlace = p.xyz / p.w; vNormal = mat3(uModel) * aNormal; vValue = aValue; gl_Position = uView * p;
}`;
const MESH_FS = `#version 300 es
precision highp float; in vec3 vPlace, vNormal; in float vValue; out vec4 oColour;
uniform vec3 uEye, uKey, uColour, uMap[16]; uniform float uAlpha, uMapped, uGloss, uRim, uPicked; uniform int uKind;
${LIT}
void main() {
  vec3 eye = normalize(uEye - vPlace), n = normalize(vNormal);
  if (dot(n, eye) < 0.0) n = -n;
  if (uKind == 2) { oColour = vec4(0.10, 0.12, 0.16, uAlpha); return; }
  if (uKind == 3) { oColour = vec4(mix(vec3(0.16, 0.45, 0.58), vec3(0.40, 0.66, 0.76), vValue), uAlpha); return; } // depth
  if (uKind == 1) { // water: what is seen through it near the vertical, the sky at a glance
    float f = 0.03 + 0.97 * pow(1.0 - max(dot(n, eye), 0.0), 4.0);
    vec3 r = reflect(-eye, n), key = normalize(uKey);
    vec3 sky = mix(vec3(0.55, 0.68, 0.80), vec3(0.86, 0.92, 0.97), clamp(r.z, 0.0, 1.0));
    float spark = 0.5 * pow(max(dot(r, key), 0.0), 600.0);
    oColour = vec4(mix(vec3(0.10, 0.42, 0.55), sky, clamp(f, 0.0, 1.0)) + spark, clamp(uAlpha * mix(0.55, 1.6, f) + spark, 0.0, 0.95));
    return;
  }
  vec3 base = uColour;
  if (uMapped > 0.5) {
    float u = clamp(vValue, 0.0, 1.0) * 15.0; int k = int(min(u, 14.0));
    base = mix(uMap[k], uMap[k + 1], u - float(k));
  }
  if (uPicked > 0.5) base = mix(base, vec3(1.0, 0.80, 0.20), 0.65);
  float a = uAlpha;
  if (uRim > 0.0) a = clamp(uAlpha * mix(0.75, 1.9, pow(1.0 - abs(dot(n, eye)), 2.0)), 0.0, 1.0);
  oColour = shown(lit(base, n, eye, uGloss), a);
}`;
const TUBE_VS = `#version 300 es
layout(location=0) in vec3 aUnit; layout(location=3) in vec3 iFrom; layout(location=4) in vec3 iTo;
layout(location=5) in vec2 iRadius; layout(location=6) in vec4 iColour;
uniform mat4 uView, uShadow; uniform vec3 uShift; out vec3 vPlace, vNormal; out vec4 vColour;
void main() {
  vec3 along = iTo - iFrom; float l = length(along); vec3 w = l > 0.0 ? along / l : vec3(0, 0, 1);
  vec3 u = normalize(cross(w, abs(w.z) < 0.9 ? vec3(0, 0, 1) : vec3(1, 0, 0))), v = cross(w, u);
  float r = mix(iRadius.x, iRadius.y, aUnit.z), over = 0.15 * max(iRadius.x, iRadius.y) * (aUnit.z * 2.0 - 1.0);
  vNormal = u * aUnit.x + v * aUnit.y; vColour = iColour;
  vec4 p = uShadow * vec4(iFrom + along * aUnit.z + w * over + r * vNormal + uShift, 1.0);
  vPlace = p.xyz / p.w; gl_Position = uView * p;
}`;
const TUBE_FS = `#version 300 es
precision highp float; in vec3 vPlace, vNormal; in vec4 vColour; out vec4 oColour;
uniform vec3 uEye, uKey; uniform float uAlpha; uniform int uKind;
${LIT}
void main() {
  if (uKind == 2) { oColour = vec4(0.10, 0.12, 0.16, uAlpha); return; }
  vec3 eye = normalize(uEye - vPlace), n = normalize(vNormal);
  oColour = shown(lit(vColour.rgb, n, eye, 0.10), uAlpha);
}`;
const DROP_VS = `#version 300 es
layout(location=0) in vec3 aPlace; uniform mat4 uView; uniform vec3 uShift; uniform float uSize;
void main() { gl_Position = uView * vec4(aPlace + uShift, 1.0); gl_PointSize = clamp(uSize / gl_Position.w, 1.0, 256.0); }`;
const DROP_FS = `#version 300 es
precision highp float; out vec4 oColour; uniform vec3 uColour; uniform float uAlpha;
void main() {
  vec2 c = 2.0 * gl_PointCoord - 1.0; float d = dot(c, c); if (d > 1.0) discard;
  oColour = vec4(uColour * (0.72 + 0.28 * sqrt(1.0 - d)), uAlpha);
}`;
const GROUND_VS = `#version 300 es
layout(location=0) in vec3 aPlace; uniform mat4 uView; uniform vec4 uAt; out vec2 vAt;
void main() { vAt = uAt.xy + aPlace.xy * uAt.w; gl_Position = uView * vec4(vAt, uAt.z, 1.0); }`;
const GROUND_FS = `#version 300 es
precision highp float; in vec2 vAt; out vec4 oColour; uniform vec4 uAt; uniform float uStep;
float line(float step, float width) {
  vec2 c = vAt / step, d = abs(fract(c - 0.5) - 0.5) / fwidth(c); return 1.0 - clamp(min(d.x, d.y) / width, 0.0, 1.0);
}
void main() {
  float far = 1.0 - smoothstep(0.15, 0.95, length(vAt - uAt.xy) / uAt.w);
  float ink = 0.16 * line(uStep, 1.0) + 0.22 * line(5.0 * uStep, 1.2);
  oColour = vec4(mix(vec3(0.91, 0.92, 0.93), vec3(0.45, 0.50, 0.57), ink), far * 0.9);
}`;

const M4 = {
  one: () => new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
  product(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
      let s = 0;
      for (let k = 0; k < 4; k++) s += a[4 * k + r] * b[4 * c + k];
      out[4 * c + r] = s;
    }
    return out;
  },
  perspective(tanY, aspect, near, far) {
    const f = 1 / tanY;
    return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
  },
  look(eye, right, up, back) {
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    return new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0, -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
  },
  pose(p, i, shift) {
    if (i < 0) { const m = M4.one(); m.set(shift, 12); return m; }
    const [x, y, z, w, a, b, c] = p.subarray(7 * i, 7 * i + 7);
    return new Float32Array([
      1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b), 0,
      2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a), 0,
      2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b), 0,
      x + shift[0], y + shift[1], z + shift[2], 1]);
  },
};

class Painter {
  constructor(canvas) {
    const gl = this.gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.canvas = canvas;
    this.mesh = this.program(MESH_VS, MESH_FS); this.tube = this.program(TUBE_VS, TUBE_FS);
    this.drop = this.program(DROP_VS, DROP_FS); this.ground = this.program(GROUND_VS, GROUND_FS);
    this.square = this.fixed([{ at: 0, size: 3, data: new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]) }], new Uint32Array([0, 1, 2, 0, 2, 3]));
    const unit = [], index = [], sides = 10;
    for (let k = 0; k < sides; k++) for (const z of [0, 1]) unit.push(Math.cos(2 * Math.PI * k / sides), Math.sin(2 * Math.PI * k / sides), z);
    for (let k = 0; k < sides; k++) { const a = 2 * k, b = 2 * ((k + 1) % sides); index.push(a, b, b + 1, a, b + 1, a + 1); }
    this.unit = { place: this.buffer(new Float32Array(unit)), index: this.buffer(new Uint32Array(index), gl.ELEMENT_ARRAY_BUFFER), count: index.length };
  }
  program(vs, fs) {
    const gl = this.gl, p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vs], [gl.FRAGMENT_SHADER, fs]]) {
      const s = gl.createShader(kind);
      gl.shaderSource(s, text); gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const at = {};
    for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(p, k).name;
      at[name.replace("[0]", "")] = gl.getUniformLocation(p, name);
    }
    return { p, at };
  }
  buffer(data, kind = this.gl.ARRAY_BUFFER) {
    const gl = this.gl, b = gl.createBuffer();
    gl.bindVertexArray(null); gl.bindBuffer(kind, b); gl.bufferData(kind, data, gl.DYNAMIC_DRAW);
    return b;
  }
  fixed(arrays, faces) {
    const gl = this.gl, vao = gl.createVertexArray();
    const buffers = arrays.map(a => this.buffer(a.data)), index = this.buffer(faces, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(vao);
    arrays.forEach((a, k) => { gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]); gl.enableVertexAttribArray(a.at); gl.vertexAttribPointer(a.at, a.size, gl.FLOAT, false, 0, 0); });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, index);
    gl.bindVertexArray(null);
    return { vao, buffers, index, count: faces.length };
  }
  refill(shape, arrays, faces) {
    const gl = this.gl;
    gl.bindVertexArray(null);
    arrays.forEach((a, k) => { gl.bindBuffer(gl.ARRAY_BUFFER, shape.buffers[k]); gl.bufferData(gl.ARRAY_BUFFER, a.data, gl.DYNAMIC_DRAW); });
    if (faces) { gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, shape.index); gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.DYNAMIC_DRAW); shape.count = faces.length; }
  }
  // One recording on the stage: buffers that stay, buffers that are filled with each frame.
  take(stage) {
    const none = new Float32Array(0), nothing = new Uint32Array(0);
    const actor = { stage, frame: null, meshes: [], surfaces: [], lines: [], points: [] };
    for (const mesh of stage.meshes)
      actor.meshes.push(this.fixed([{ at: 0, size: 3, data: mesh.vertices }, { at: 1, size: 3, data: mesh.normals }], mesh.faces));
    for (const _ of stage.surfaces)
      actor.surfaces.push(this.fixed([{ at: 0, size: 3, data: none }, { at: 1, size: 3, data: none }, { at: 2, size: 1, data: none }], nothing));
    for (const lines of stage.lines) actor.lines.push(this.takeLines(lines));
    for (const _ of stage.points) actor.points.push(this.fixed([{ at: 0, size: 3, data: none }], nothing));
    return actor;
  }
  takeLines(lines) { // pieces of equal length for muscles, for their taper; else one for each stretch
    const gl = this.gl, n = lines.radius.length, pieces = [];
    for (let i = 0; i < n; i++) pieces.push(Math.max(lines.offsets[i + 1] - lines.offsets[i] - 1, lines.muscle ? 7 : 1));
    const total = pieces.reduce((a, b) => a + b, 0), data = new Float32Array(12 * total);
    const vao = gl.createVertexArray(), buffer = this.buffer(data);
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.unit.place); gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    [[3, 3, 0], [4, 3, 12], [5, 2, 24], [6, 4, 32]].forEach(([at, size, from]) => {
      gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, size, gl.FLOAT, false, 48, from); gl.vertexAttribDivisor(at, 1);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.unit.index);
    gl.bindVertexArray(null);
    return { vao, buffer, data, pieces, total };
  }
  // All of a frame at once: nothing is drawn between these calls.
  show(actor, frame, look) {
    actor.frame = frame;
    actor.stage.surfaces.forEach((surface, k) => {
      const now = frame.surfaces[k], values = new Float32Array(now.vertices.length / 3);
      if (now.values) for (let i = 0; i < values.length; i++) values[i] = now.values[i] / 65534;
      this.refill(actor.surfaces[k], [{ data: now.vertices }, { data: now.normals }, { data: values }], now.faces);
    });
    actor.stage.points.forEach((_, k) => { this.refill(actor.points[k], [{ data: frame.points[k] }]); actor.points[k].count = frame.points[k].length / 3; });
    this.restyle(actor, look);
  }
  restyle(actor, look) { // lines carry colour and width in their buffer
    if (!actor.frame) return;
    const gl = this.gl;
    actor.stage.lines.forEach((lines, k) => {
      const own = actor.lines[k], now = actor.frame.lines[k], p = now.points, out = own.data;
      let at = 0;
      for (let i = 0; i < own.pieces.length; i++) {
        const from = lines.offsets[i], n = lines.offsets[i + 1] - from, count = own.pieces[i];
        const colour = look.lineColour(actor, k, i), width = look.lineShown(actor, k, i) ? lines.radius[i] : 0;
        const even = count === n - 1, gone = [0];
        for (let j = 1; j < n; j++) gone.push(gone[j - 1] + Math.hypot(p[3 * (from + j)] - p[3 * (from + j) - 3], p[3 * (from + j) + 1] - p[3 * (from + j) - 2], p[3 * (from + j) + 2] - p[3 * (from + j) - 1]));
        let j = 0;
        const place = c => {
          if (even) return [p[3 * (from + c)], p[3 * (from + c) + 1], p[3 * (from + c) + 2]];
          const s = gone[n - 1] * c / count;
          while (j < n - 2 && gone[j + 1] < s) j++;
          const part = gone[j + 1] > gone[j] ? (s - gone[j]) / (gone[j + 1] - gone[j]) : 0, a = 3 * (from + j);
          return [p[a] + part * (p[a + 3] - p[a]), p[a + 1] + part * (p[a + 4] - p[a + 1]), p[a + 2] + part * (p[a + 5] - p[a + 2])];
        };
        let a = place(0);
        for (let c = 0; c < count; c++) {
          const b = place(c + 1);
          out.set(a, at); out.set(b, at + 3);
          out[at + 6] = width * (lines.muscle ? belly(c / count) : 1); out[at + 7] = width * (lines.muscle ? belly((c + 1) / count) : 1);
          out.set(colour, at + 8); out[at + 11] = 1;
          at += 12; a = b;
        }
      }
      gl.bindVertexArray(null); gl.bindBuffer(gl.ARRAY_BUFFER, own.buffer); gl.bufferData(gl.ARRAY_BUFFER, out, gl.DYNAMIC_DRAW);
    });
  }
  draw(actors, camera, look) {
    const gl = this.gl, scale = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * scale)), h = Math.max(1, Math.round(this.canvas.clientHeight * scale));
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    gl.viewport(0, 0, w, h);
    gl.clearColor(0.86, 0.885, 0.91, 1); gl.clearStencil(0); gl.depthMask(true); gl.colorMask(true, true, true, true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL); gl.disable(gl.BLEND); gl.disable(gl.CULL_FACE);
    this.camera = camera; this.height = h;
    const one = M4.one();
    for (const actor of actors) this.basin(actor, look);
    for (const solid of [true, false]) {
      if (!solid) {
        gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        this.floor(actors, look);
      }
      const parts = [];
      for (const actor of actors) if (actor.frame) this.parts(actor, look, parts);
      for (const part of parts.filter(p => (p.alpha >= 0.999 && p.kind === 0) === solid).sort((a, b) => a.kind - b.kind || a.order - b.order)) {
        if (!solid && part.draw === "mesh") { // only what is nearest of a clear thing is seen, so that it is no stack of sheets
          gl.colorMask(false, false, false, false); gl.depthMask(true);
          this.part(part, one, 0);
          gl.colorMask(true, true, true, true); gl.depthMask(false);
        } else gl.depthMask(solid);
        this.part(part, one, part.kind);
      }
    }
    gl.depthMask(true); gl.disable(gl.BLEND);
    look.arrows(this, actors, one);
  }
  basin(actor, look) { // the far sides of a block of water under its surface, so that wet is told from dry
    const gl = this.gl;
    actor.stage.surfaces.forEach((surface, k) => {
      const alpha = look.opacity(actor, surface.layer), now = actor.frame.surfaces[k];
      if (surface.layer !== "water" || surface.faces !== null || surface.name !== "water" || !now.vertices.length || alpha === 0 || !look.partShown(actor, "surface", k)) return;
      const { low, high } = boxOf(now.vertices), shift = actor.shift || [0, 0, 0], level = 0.5 * (low[2] + high[2]);
      const body = look.corners().reduce((z, p) => Math.min(z, p[2]), level - 0.3), bottom = Math.max(body - 0.25, level - 4);
      const place = [], value = [];
      for (let c = 0; c < 8; c++) { place.push(c & 1 ? high[0] : low[0], c & 2 ? high[1] : low[1], c & 4 ? level : bottom); value.push(c & 4 ? 1 : 0); }
      const faces = [0, 4, 1, 1, 4, 5, 2, 3, 6, 3, 7, 6, 0, 2, 4, 2, 6, 4, 1, 5, 3, 3, 5, 7, 0, 1, 2, 1, 3, 2];
      const arrays = [{ at: 0, size: 3, data: new Float32Array(place) }, { at: 1, size: 3, data: new Float32Array(24).fill(1) }, { at: 2, size: 1, data: new Float32Array(value) }];
      if (!actor.basin) actor.basin = this.fixed(arrays, new Uint32Array(faces)); else this.refill(actor.basin, arrays);
      const model = M4.one(); model.set(shift, 12);
      gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
      gl.enable(gl.CULL_FACE); gl.cullFace(gl.BACK);
      this.part({ draw: "mesh", actor, thing: surface, shape: actor.basin, model, alpha: 0.55 * alpha }, M4.one(), 3);
      gl.disable(gl.CULL_FACE); gl.depthMask(true); gl.disable(gl.BLEND);
    });
  }
  parts(actor, look, out) {
    const { stage, frame } = actor, shift = actor.shift || [0, 0, 0];
    const within = [...stage.meshes, ...stage.surfaces, ...stage.lines].some(t => INNER.has(t.layer) && look.opacity(actor, t.layer) > 0);
    const add = (kind, draw, thing, shape, extra) => {
      const own = thing.layer === "skin" && !within ? 1 : thing.opacity ?? 1, alpha = own * look.opacity(actor, thing.layer);
      if (alpha > 0.004) out.push({ actor, kind, draw, thing, shape, alpha, shift, order: out.length, ...extra });
    };
    stage.meshes.forEach((mesh, k) => { if (look.meshShown(actor, k)) add(0, "mesh", mesh, actor.meshes[k], { model: M4.pose(frame.poses, mesh.body, shift), picked: look.picked(actor, "body", mesh.body) }); });
    stage.surfaces.forEach((surface, k) => {
      if (!actor.surfaces[k].count || !look.partShown(actor, "surface", k)) return;
      const model = M4.one(); model.set(shift, 12);
      add(surface.layer === "water" ? 1 : 0, "mesh", surface, actor.surfaces[k], { model, values: surface.value && look.byValue(surface) ? surface.map : null });
    });
    stage.lines.forEach((lines, k) => add(0, "tube", lines, actor.lines[k], {}));
    stage.points.forEach((points, k) => { if (actor.points[k].count) add(0, "drop", points, actor.points[k], {}); });
  }
  part(part, shadow, kind) {
    const gl = this.gl, { view, eye, key } = this.camera, alpha = kind === 2 ? 0.16 : part.alpha;
    if (part.draw === "mesh") {
      const { p, at } = this.mesh;
      gl.useProgram(p);
      gl.uniformMatrix4fv(at.uView, false, view); gl.uniformMatrix4fv(at.uModel, false, part.model); gl.uniformMatrix4fv(at.uShadow, false, shadow);
      gl.uniform3fv(at.uEye, eye); gl.uniform3fv(at.uKey, key); gl.uniform3fv(at.uColour, part.actor.tint || part.thing.colour);
      gl.uniform1f(at.uAlpha, alpha); gl.uniform1f(at.uMapped, part.values ? 1 : 0); gl.uniform1i(at.uKind, kind);
      gl.uniform1f(at.uGloss, part.thing.layer === "skin" ? 0.05 : 0.10); gl.uniform1f(at.uRim, part.thing.layer === "skin" && part.alpha < 0.999 ? 1 : 0);
      gl.uniform1f(at.uPicked, part.picked ? 1 : 0);
      if (part.values) gl.uniform3fv(at.uMap, part.values.flat());
      gl.bindVertexArray(part.shape.vao); gl.drawElements(gl.TRIANGLES, part.shape.count, gl.UNSIGNED_INT, 0);
    } else if (part.draw === "tube") {
      const { p, at } = this.tube;
      gl.useProgram(p);
      gl.uniformMatrix4fv(at.uView, false, view); gl.uniformMatrix4fv(at.uShadow, false, shadow);
      gl.uniform3fv(at.uEye, eye); gl.uniform3fv(at.uKey, key); gl.uniform1f(at.uAlpha, alpha); gl.uniform1i(at.uKind, kind); gl.uniform3fv(at.uShift, part.shift);
      gl.bindVertexArray(part.shape.vao); gl.drawElementsInstanced(gl.TRIANGLES, this.unit.count, gl.UNSIGNED_INT, 0, part.shape.total);
    } else if (kind !== 2) {
      const { p, at } = this.drop;
      gl.useProgram(p);
      gl.uniformMatrix4fv(at.uView, false, view); gl.uniform3fv(at.uShift, part.shift); gl.uniform3fv(at.uColour, part.thing.colour);
      gl.uniform1f(at.uAlpha, part.alpha); gl.uniform1f(at.uSize, this.height * part.thing.radius / this.camera.tanY);
      gl.bindVertexArray(part.shape.vao); gl.drawArrays(gl.POINTS, 0, part.shape.count);
    }
    gl.bindVertexArray(null);
  }
  floor(actors, look) { // ground with a grid, and everything's shadow on it
    const stage = actors[0].stage, gl = this.gl, { view, key, target, distance } = this.camera;
    if (stage.ground === null || !look.ground) return;
    const z = stage.ground - 0.001 * stage.reach, { p, at } = this.ground;
    gl.useProgram(p); gl.uniformMatrix4fv(at.uView, false, view);
    gl.uniform4f(at.uAt, target[0], target[1], z, Math.max(6 * distance, 8 * stage.reach)); gl.uniform1f(at.uStep, stage.grid);
    gl.depthMask(false);
    gl.bindVertexArray(this.square.vao); gl.drawElements(gl.TRIANGLES, 6, gl.UNSIGNED_INT, 0);
    if (this.camera.eye[2] < z) { gl.depthMask(true); return; }
    const [a, b, c] = key, g = z + 0.0004 * stage.reach;
    const flat = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, -a / c, -b / c, 0, 0, g * a / c, g * b / c, g, 1]);
    gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    for (const actor of actors) if (actor.frame) {
      const parts = [];
      this.parts(actor, look, parts);
      for (const part of parts) if (part.kind === 0) this.part(part, flat, 2);
    }
    gl.disable(gl.STENCIL_TEST); gl.depthMask(true);
  }
  arrow(from, to, radius, colour) { // a shaft and a head
    const gl = this.gl, d = [to[0] - from[0], to[1] - from[1], to[2] - from[2]], l = Math.hypot(...d);
    if (!(l > 1e-6)) return;
    const neck = from.map((x, c) => x + d[c] * Math.max(0, 1 - 5 * radius / l));
    const data = new Float32Array([...from, ...neck, radius, radius, ...colour, 1, ...neck, ...to, 2.6 * radius, 0, ...colour, 1]);
    if (!this.arrowShape) this.arrowShape = this.takeLines({ radius: [1, 1], offsets: [0, 2, 4], muscle: false });
    gl.bindVertexArray(null); gl.bindBuffer(gl.ARRAY_BUFFER, this.arrowShape.buffer); gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    this.part({ draw: "tube", shape: this.arrowShape, alpha: 1, shift: [0, 0, 0] }, M4.one(), 0);
  }
}

function belly(s) { return 0.32 + 0.68 * Math.sin(Math.PI * Math.min(Math.max((s - 0.08) / 0.84, 0), 1)) ** 1.3; }
