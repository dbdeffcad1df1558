// The page: time, cameras, choices. A frame is fetched whole, unpacked whole, and drawn in one go.
"use strict";

const $ = id => document.getElementById(id);
const PAUSE = '<svg viewBox="0 0 10 10" width="11" height="11"><path fill="currentColor" d="M1 0h3v10H1zM6 0h3v10H6z"/></svg>'; // some fonts lack the sign
const showPlaying = playing => { $("play").innerHTML = playing ? PAUSE : "▶"; };
const FIELD = 28 * Math.PI / 180, BOB = 0.3, AHEAD = 12, KEPT = 240;
const SECOND = [0.25, 0.50, 0.75]; // the colour of a second recording laid over the first

const ARROW = 0.3, INKS_OF_FORCES = [[0.75, 0.20, 0.15], [0.15, 0.45, 0.75], [0.90, 0.55, 0.10], [0.25, 0.55, 0.30]];
const isForce = signal => signal.unit === "N" && ["x,y,z", "left,back,up"].includes(signal.components.join());
const onBodies = (signal, bodies) => { // "hand x, hand y, hand z, foot x, ...": one force on each of several bodies; which ones
  const c = signal.components, names = c.filter((_, k) => k % 3 === 0).map(x => x.slice(0, -2));
  const whole = signal.unit === "N" && c.length > 3 && c.length % 3 === 0 && c.every((x, k) => x === `${names[Math.floor(k / 3)]} ${"xyz"[k % 3]}`);
  return whole && names.every(x => bodies.includes(x)) ? names.map(x => bodies.indexOf(x)) : [];
};
class Page {
  constructor() {
    this.canvas = $("scene");
    this.actors = []; this.sources = []; this.frames = new Map(); this.asked = new Map();
    this.index = 0; this.playing = false; this.speed = 1; this.live = null; this.dirty = true;
    this.orbit = { target: [0, 0, 0], yaw: 0, pitch: 0, distance: 3, follow: -1 };
    this.chosen = null; this.hidden = new Set(); this.only = null; this.opacities = {}; this.off = new Set(); this.plain = new Set();
    this.arrowsOn = false; this.charts = []; this.own = []; this.ground = true; this.shown = -1;
  }
  async begin() {
    try {
      this.held = document.querySelectorAll("script[id^=recording-]").length;
      const state = this.held ? { frames: Array(this.held), live: null } : await this.state();
      this.painter = new Painter(this.canvas);
      for (let r = 0; r < state.frames.length; r++) this.sources.push(await new (this.held ? Held : Served)(r).load());
      this.live = state.live;
      this.actors = this.sources.map(source => this.painter.take(source.stage));
      this.setTimes();
      this.build();
      if (this.actors.length > 1) this.arrange("beside");
      const kept = new URLSearchParams(location.hash.slice(1));
      this.canvas.setAttribute("data-frames", this.time.length);
      this.index = this.nearest(kept.has("t") ? +kept.get("t") : this.time[0] ?? 0);
      if (this.live) { await this.fetchLive(); } else if (this.time.length) this.put(this.index, await this.fetch(this.index));
      const cameras = this.stage.cameras;
      this.go(cameras.find(c => c.name === kept.get("view")) || cameras[0]);
      const seen = (kept.get("from") || "").split("_").map(Number);
      if (seen.length === 6 && seen.every(isFinite) && seen[5] > 0) Object.assign(this.orbit, { target: seen.slice(0, 3), yaw: seen[3], pitch: seen[4], distance: seen[5] });
      $("notice").textContent = this.time.length || this.live ? "" : "no frames yet";
      await this.loadSignals();
      this.restore(kept.get("shown"));
      requestAnimationFrame(now => this.tick(now));
      if (!this.held) setInterval(() => this.poll(), 300);
    } catch (error) { $("notice").textContent = String(error.message || error); throw error; }
  }
  get stage() { return this.sources[0].stage; }
  async state() { return (await fetch("/state", { cache: "no-store" })).json(); }
  setTimes() { // one time line: that of the recording which lasts longest
    const all = this.sources.map(s => s.stage.time);
    this.time = all.reduce((a, b) => (b.length && b[b.length - 1] - b[0] > (a.length ? a[a.length - 1] - a[0] : -1) ? b : a), []);
    $("slider").max = Math.max(this.time.length - 1, 0);
  }
  nearest(t, time = this.time) {
    let low = 0, high = time.length - 1;
    while (low < high) { const m = (low + high) >> 1; time[m] < t - 1e-9 ? low = m + 1 : high = m; }
    return low > 0 && t - time[low - 1] < time[low] - t ? low - 1 : low;
  }
  // Frames: fetched ahead, kept for a while. `fetch` gives one frame of every recording, all at the same time.
  fetch(i) {
    if (this.frames.has(i)) return Promise.resolve(this.frames.get(i));
    if (this.asked.has(i)) return this.asked.get(i);
    const t = this.time[i];
    const all = Promise.all(this.sources.map(s => s.stage.time.length ? s.frame(this.nearest(t, s.stage.time)) : null)).then(frames => {
      this.asked.delete(i); this.frames.set(i, frames);
      while (this.frames.size > KEPT) this.frames.delete(this.frames.keys().next().value);
      return frames;
    }, error => { this.asked.delete(i); throw error; });
    this.asked.set(i, all);
    return all;
  }
  put(i, frames) {
    this.actors.forEach((actor, r) => { if (frames[r]) this.painter.show(actor, frames[r], this); });
    this.shown = i; this.dirty = true;
  }
  async want(i) {
    this.index = Math.min(Math.max(i, 0), this.time.length - 1);
    if (this.index === this.shown || this.time.length === 0) return;
    if (this.frames.has(this.index)) return this.put(this.index, this.frames.get(this.index));
    const i0 = this.index, frames = await this.fetch(i0);
    if (this.index === i0 || !this.playing) this.put(i0, frames);
  }
  seek(i) { this.began = null; this.want(i).catch(() => 0); this.remember(); }
  toggle(on = !this.playing) {
    if (this.live) { fetch("/pause", { method: "POST" }).then(() => this.poll()); return; }
    this.playing = on && this.time.length > 1;
    if (this.playing && this.index >= this.time.length - 1) this.index = 0;
    this.began = null;
    showPlaying(this.playing);
    this.remember();
  }
  offer(actions) { // buttons for what can be done to a live run
    const names = Object.keys(actions);
    if (names.join() === this.offered) return;
    this.offered = names.join();
    $("acts").replaceChildren(...names.map(name => {
      const button = document.createElement("button");
      button.textContent = name; button.title = actions[name];
      button.onclick = () => this.act(name);
      return button;
    }));
    $("acts").hidden = !names.length;
  }
  act(name = Object.keys(this.live?.actions ?? {})[0]) {
    if (this.live && name) fetch(`/act/${encodeURIComponent(name)}`, { method: "POST" }).catch(() => 0);
  }
  remember() { // a reloaded page comes back to where it was
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      if (!this.live && this.time.length) {
        const o = this.orbit, seen = [...o.target, o.yaw, o.pitch, o.distance].map(x => +x.toPrecision(8)).join("_");
        history.replaceState(null, "", `#t=${(this.time[this.index] || 0).toFixed(4)}&view=${encodeURIComponent(this.view || "")}&from=${seen}${this.choices()}`);
      }
    }, 150);
  }
  choices() { // what is shown, hidden and chosen
    const c = this.chosen, told = { off: [...this.off], dim: this.opacities, hidden: [...this.hidden], only: this.only && [...this.only], part: c && [c.kind, c.name], arrows: this.arrowsOn, over: this.mode === "over" };
    const kept = Object.fromEntries(Object.entries(told).filter(([, x]) => x && (x === true || Object.keys(x).length)));
    return Object.keys(kept).length ? `&shown=${encodeURIComponent(JSON.stringify(kept))}` : "";
  }
  restore(text) { // those choices again; an address that tells none, or nonsense, changes nothing
    let kept;
    try { kept = JSON.parse(text) || {}; } catch (_) { return; }
    const names = key => Array.isArray(kept[key]) ? kept[key].filter(x => typeof x === "string") : [];
    for (const row of document.querySelectorAll("#layers [data-layer]")) {
      const layer = row.dataset.layer, [box, range] = row.querySelectorAll("input"), dim = +kept.dim?.[layer];
      if (names("off").includes(layer)) { this.off.add(layer); box.checked = false; }
      if (dim) this.opacities[layer] = range.value = Math.min(Math.max(dim, 0.05), 1);
    }
    names("hidden").forEach(key => this.hidden.add(key));
    if (kept.only) this.only = new Set(names("only"));
    if (kept.arrows && $("arrows")) this.arrowsOn = $("arrows").checked = true;
    if (kept.over && this.actors.length > 1) { const orbit = this.orbit; this.arrange("over"); this.orbit = orbit; }
    const part = this.parts().find(x => x.kind === names("part")[0] && x.name === names("part")[1]);
    this.choose(part || null);
  }
  tick(now) {
    if (this.playing && this.time.length > 1) {
      if (!this.began) this.began = { clock: now, time: this.time[Math.max(this.shown, 0)] };
      let t = this.began.time + (now - this.began.clock) / 1000 * this.speed;
      const end = this.time[this.time.length - 1];
      if (t > end) {
        if ($("loop").checked) { t = this.time[0]; this.began = { clock: now, time: t }; } else { this.toggle(false); t = end; }
      }
      const i = this.nearest(t);
      // Whatever is late is left out: the next frame that is there as a whole is shown, never a part of one.
      for (let k = 0; k < AHEAD && this.asked.size < 6; k++) {
        const next = (i + k) % this.time.length;
        if (!this.frames.has(next) && !this.asked.has(next)) this.fetch(next).catch(() => 0);
      }
      this.index = i;
      for (let k = i; k > this.shown || (k === i && k !== this.shown); k--) if (this.frames.has(k)) { this.put(k, this.frames.get(k)); break; }
    }
    if (this.dirty) { this.dirty = false; this.draw(); }
    requestAnimationFrame(t => this.tick(t));
  }
  draw() {
    if (!this.actors.some(a => a.frame)) return;
    this.painter.draw(this.actors.filter(a => a.frame), this.camera(), this);
    const t = this.live ? this.live.time ?? 0 : this.time[this.shown] ?? 0;
    $("clock").textContent = `t = ${t.toFixed(3)} s`;
    $("note").textContent = this.live ? (this.live.paused ? "held" : "running") : this.time.length > 1 ? `frame ${this.shown + 1} of ${this.time.length}` : "";
    if (!this.live) $("slider").value = this.shown;
    for (const chart of [...this.charts, ...this.own]) { chart.chart.draw(t); chart.tell(t); }
    this.tellChosen();
    if (this.arrowsOn !== ($("forces").childElementCount > 0)) this.tellForces();
    this.canvas.setAttribute("data-shown", this.shown);
  }
  async poll() {
    if (this.polling) return;
    this.polling = true;
    try {
      const state = await this.state();
      if (this.live && !state.live) { // the run has ended: this is its recording from now on
        this.live = null; this.offer({});
        this.sources[0].stage.time = await this.sources[0].times();
        this.frames.clear(); this.setTimes(); this.shown = -1;
        showPlaying(false); $("bar").classList.remove("live"); $("slider").disabled = false;
        await this.want(this.time.length - 1);
        await this.loadSignals();
        if (this.chosen) await this.choose(this.chosen); // now with its curves
      } else if (state.live) {
        const news = !this.live || this.live.count !== state.live.count;
        this.live = state.live; this.offer(state.live.actions);
        showPlaying(!state.live.paused); $("slider").disabled = true;
        if (news) { await this.fetchLive(); if (this.live.count % 8 < 4) await this.loadSignals(); }
        this.dirty = true;
      } else for (let r = 0; r < this.sources.length; r++)
        if (state.frames[r] > this.sources[r].stage.time.length) {
          this.sources[r].stage.time = await this.sources[r].times();
          this.setTimes(); await this.loadSignals(); this.dirty = true;
          if (this.shown < 0) this.seek(0);
        }
    } catch (_) { $("note").textContent = "the server is gone"; } finally { this.polling = false; }
  }
  async fetchLive() {
    const answer = await fetch("/live", { cache: "no-store" });
    if (!answer.ok) return;
    const [time, packed] = unpack(await answer.arrayBuffer());
    this.live.time = new Float64Array(time)[0];
    this.put(0, [openFrame(this.stage, unpack(packed))]);
  }
  // Cameras
  follow() { // how far the followed body has gone
    const i = this.orbit.follow, actor = this.actors[0];
    if (i < 0 || !actor.frame || !this.stage.first[i]) return [0, 0, 0];
    const d = [0, 1, 2].map(c => actor.frame.poses[7 * i + c] - this.stage.first[i][c]);
    d[2] -= Math.min(Math.max(d[2], -BOB), BOB);
    return d;
  }
  camera() {
    const o = this.orbit, shift = this.follow(), target = o.target.map((x, c) => x + shift[c]);
    const back = [Math.cos(o.pitch) * Math.cos(o.yaw), Math.cos(o.pitch) * Math.sin(o.yaw), Math.sin(o.pitch)];
    const right = [-Math.sin(o.yaw), Math.cos(o.yaw), 0];
    const up = [back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2], back[0] * right[1] - back[1] * right[0]];
    const eye = target.map((x, c) => x + o.distance * back[c]), aspect = this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1);
    const tanY = Math.tan(FIELD / 2), near = Math.max(0.01 * o.distance, 1e-4), far = 60 * o.distance + 40 * this.stage.reach;
    const view = M4.product(M4.perspective(tanY, aspect, near, far), M4.look(eye, right, up, back));
    const key = [0, 1, 2].map(c => 0.55 * back[c] - 0.45 * right[c] + (c === 2 ? 0.95 : 0));
    if (key[2] < 0.3) key[2] = 0.3;
    const l = Math.hypot(...key);
    return { view, eye, target, right, up, back, tanY, aspect, distance: o.distance, key: key.map(x => x / l) };
  }
  go(camera) { // to a camera of the scene, as far back as it takes to see everything that moves
    const d = [0, 1, 2].map(c => camera.eye[c] - camera.target[c]), l = Math.hypot(...d) || 1;
    this.view = camera.name;
    this.orbit = { target: [...camera.target], yaw: Math.hypot(d[0], d[1]) > 1e-3 * l ? Math.atan2(d[1], d[0]) : -Math.PI / 2, pitch: Math.asin(Math.min(Math.max(d[2] / l, -0.9999), 0.9999)), distance: l, follow: camera.follow };
    if (this.mode === "beside") { this.part(); this.orbit.target = this.orbit.target.map((x, c) => x + 0.5 * this.actors[1].shift[c]); }
    const corners = this.corners();
    for (let k = 0; k < 60 && corners.length && !this.fits(corners); k++) this.orbit.distance *= 1.04;
    for (const button of $("cameras").children) button.classList.toggle("on", button.textContent === camera.name);
    this.dirty = true; this.remember();
  }
  corners(of = null) { // of the boxes of all that moves now, water and walls aside
    const out = [];
    for (const actor of of ? [of] : this.actors) {
      if (!actor.frame) continue;
      const shift = actor.shift || [0, 0, 0];
      const add = (box, m) => { for (let k = 0; k < 8; k++) { const p = [0, 1, 2].map(c => (k >> c & 1 ? box.high : box.low)[c]); out.push(m ? [0, 1, 2].map(c => m[c] * p[0] + m[4 + c] * p[1] + m[8 + c] * p[2] + m[12 + c]) : p.map((x, c) => x + shift[c])); } };
      actor.stage.meshes.forEach(mesh => { if (mesh.body >= 0) add(mesh.box, M4.pose(actor.frame.poses, mesh.body, shift)); });
      actor.stage.surfaces.forEach((s, k) => { if (s.layer !== "water" && s.layer !== "spray" && actor.frame.surfaces[k].vertices.length) add(boxOf(actor.frame.surfaces[k].vertices)); });
      actor.stage.lines.forEach((s, k) => { if (s.muscle && actor.frame.lines[k].points.length) add(boxOf(actor.frame.lines[k].points)); });
    }
    return out;
  }
  fits(corners) {
    const c = this.camera(), bar = 60 / Math.max(this.canvas.clientHeight, 200);
    const room = { x: 0.96 * c.tanY * c.aspect, up: (0.98 - bar) * c.tanY, down: (0.98 - 1.6 * bar) * c.tanY };
    return corners.every(p => {
      const d = p.map((x, k) => x - c.eye[k]), dot = a => a[0] * d[0] + a[1] * d[1] + a[2] * d[2], z = -dot(c.back);
      if (z <= 0) return false;
      const y = dot(c.up) / z;
      return Math.abs(dot(c.right) / z) <= room.x && y <= room.up && -y <= room.down;
    });
  }
  // What the painter asks
  opacity(actor, layer) { return this.off.has(layer) ? 0 : this.opacities[layer] ?? 1; }
  byValue(part) { return !this.plain.has(`${part.layer}: ${part.value}`) && !(this.mode === "over" && this.actors.length > 1); }
  group(kind, actor, k, i) { return kind === "line" ? base(actor.stage.lines[k].names[i]) : actor.stage.bodies[k]; }
  visible(key, one) { return this.only ? this.only.has(key) || this.only.has(`one ${one}`) : !this.hidden.has(key); }
  meshShown(actor, k) { const b = actor.stage.meshes[k].body; return b < 0 ? !this.only : this.visible(`body ${actor.stage.bodies[b]}`, `body ${actor.stage.bodies[b]}`); }
  partShown() { return !this.only; }
  lineShown(actor, k, i) { const name = actor.stage.lines[k].names[i]; return this.visible(`line ${base(name)}`, `line ${name}`); }
  picked(actor, kind, i) { const c = this.chosen; return !!c && c.kind === kind && c.actor === actor && c.i === i; }
  lineColour(actor, k, i) {
    const lines = actor.stage.lines[k], c = this.chosen, values = actor.frame.lines[k].values;
    if (c && c.kind === "line" && c.actor === actor && c.k === k && c.i === i) return [1.0, 0.78, 0.15];
    if (actor.tint) return actor.tint;
    if (!values || !this.byValue(lines)) return lines.colour;
    if (values[i] === 65535) return [0.5, 0.5, 0.5];
    const u = values[i] / 65534 * 15, a = Math.min(Math.floor(u), 14), f = u - a;
    return lines.map[a].map((x, ch) => x + f * (lines.map[a + 1][ch] - x));
  }
  forces() { // the signals that are forces: { k, title, ink, bodies (none: on the whole) }
    const stage = this.stage;
    return stage.signals.map((signal, k) => ({ k, title: signal.title || signal.name, bodies: onBodies(signal, stage.bodies), one: isForce(signal) }))
      .filter(f => f.one || f.bodies.length).map((f, n) => ({ ...f, ink: INKS_OF_FORCES[n % 4] }));
  }
  arrows(painter, actors) { // forces that the recording holds as vectors; a large one of each kind is a part of the body's size
    if (!this.arrowsOn || !this.signals) return;
    const actor = actors[0], s = this.signals[0], t = this.live ? this.live.time : this.time[this.shown], size = ARROW * (this.large ??= this.size());
    if (!s.time.length) return;
    const i = this.nearest(t, s.time);
    painter.gl.disable(painter.gl.DEPTH_TEST);
    for (const force of this.forces()) {
      const most = this.mostOf(force, s), n = force.bodies.length || 1;
      for (let j = 0; j < n; j++) {
        const f = [0, 1, 2].map(c => s.series[force.k][3 * (n * i + j) + c]);
        if (!f.every(Number.isFinite)) continue;
        const at = force.bodies.length ? this.middleOf(actor, force.bodies[j]) : this.actsAt(actor, actor.stage.signals[force.k], s, i);
        const long = size * Math.hypot(...f) / most;
        painter.arrow(at, at.map((x, c) => x + size * f[c] / most), Math.min(0.02 * size, 0.1 * long), force.ink);
      }
    }
    painter.gl.enable(painter.gl.DEPTH_TEST);
  }
  mostOf(force, s) { // what 49 of 50 of a force's values in the recording stay below
    const key = `${force.k} ${s.time.length}`, v = s.series[force.k], sizes = [];
    this.scales ??= new Map();
    if (this.scales.has(key)) return this.scales.get(key);
    for (let j = 0; j + 2 < v.length; j += 3) sizes.push(Math.hypot(v[j], v[j + 1], v[j + 2]) || 0);
    sizes.sort((a, b) => a - b);
    this.scales.set(key, sizes[Math.floor(0.98 * (sizes.length - 1))] || 1e-9);
    return this.scales.get(key);
  }
  tellForces() { // what the arrows are, and their scale
    const s = this.signals?.[0], told = this.arrowsOn && s ? this.forces() : [];
    $("forces").replaceChildren(...told.flatMap(force => {
      const ink = document.createElement("i"), text = document.createElement("span");
      ink.style.background = `rgb(${force.ink.map(x => Math.round(255 * x)).join()})`;
      text.textContent = `${force.title}: 10 cm for ${+(0.1 * this.mostOf(force, s) / (ARROW * (this.large ??= this.size()))).toPrecision(2)} N`;
      return [ink, text, document.createElement("br")];
    }));
  }
  size() { // of what moves [m], along the diagonal of its box
    const corners = this.corners().filter(p => p.every(Number.isFinite));
    return corners.length ? Math.hypot(...[0, 1, 2].map(c => Math.max(...corners.map(p => p[c])) - Math.min(...corners.map(p => p[c])))) : this.stage.reach;
  }
  middleOf(actor, body) { // of a bone's shape, or its joint where it has none
    const p = actor.frame.poses.subarray(7 * body, 7 * body + 3), mesh = actor.stage.meshes.find(m => m.body === body);
    if (!mesh) return Array.from(p);
    const m = M4.pose(actor.frame.poses, body, [0, 0, 0]), at = [0, 1, 2].map(c => 0.5 * (mesh.box.low[c] + mesh.box.high[c]));
    return [0, 1, 2].map(c => m[c] * at[0] + m[4 + c] * at[1] + m[8 + c] * at[2] + m[12 + c]);
  }
  actsAt(actor, signal, s, i) { // a force of the ground acts at its centre of pressure where that is recorded, others at the middle of the bones
    const stage = actor.stage, n = stage.bodies.length, at = n ? [0, 0, 0] : [0, 1, 2].map(c => 0.5 * (stage.low[c] + stage.high[c]));
    for (let b = 0; b < n; b++) for (let c = 0; c < 3; c++) at[c] += actor.frame.poses[7 * b + c] / n;
    if (!signal.name.startsWith("ground") || stage.ground === null) return at;
    const k = stage.signals.findIndex(x => x.name === "pressure" && x.unit === "m" && x.components.length === 2);
    const p = k < 0 ? [] : [s.series[k][2 * i], s.series[k][2 * i + 1]];
    return p.length && p.every(Number.isFinite) ? [...p, stage.ground] : [at[0], at[1], stage.ground];
  }
  arrange(mode) { // two recordings: side by side, or one over the other
    this.mode = mode;
    this.actors[1].tint = mode === "over" ? SECOND : null;
    $("beside").classList.toggle("on", mode === "beside"); $("over").classList.toggle("on", mode === "over");
    this.part();
    if (this.shown >= 0) { this.restyle(); this.go(this.stage.cameras.find(c => c.name === this.view) || this.stage.cameras[0]); }
  }
  part() { // the second recording stands beside the first as the camera sees them, as far away as both need room
    const [a, b] = this.actors, yaw = this.orbit.yaw, right = [-Math.sin(yaw), Math.cos(yaw)], axis = Math.abs(right[0]) >= Math.abs(right[1]) ? 0 : 1;
    b.shift = [0, 0, 0];
    if (this.mode !== "beside") return;
    const extent = actor => {
      const now = this.orbit.follow >= 0 ? this.corners(actor).map(p => p[axis]) : [];
      return now.length ? [Math.min(...now), Math.max(...now)] : [actor.stage.low[axis], actor.stage.high[axis]];
    };
    const [one, other] = [extent(a), extent(b)], wide = Math.max(one[1] - one[0], other[1] - other[0], 0.2 * a.stage.reach);
    b.shift[axis] = (right[axis] < 0 ? -1 : 1) * Math.min(1.1 * wide, 4 * a.stage.reach);
  }
  restyle() { for (const actor of this.actors) this.painter.restyle(actor, this); this.dirty = true; }
  // Choosing
  pick(x, y) {
    const c = this.camera(), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    const sx = (2 * x / w - 1) * c.tanY * c.aspect, sy = (1 - 2 * y / h) * c.tanY;
    const ray = [0, 1, 2].map(k => c.right[k] * sx + c.up[k] * sy - c.back[k]), l = Math.hypot(...ray), dir = ray.map(v => v / l);
    let best = { z: Infinity };
    for (const actor of this.actors) {
      if (!actor.frame) continue;
      const shift = actor.shift || [0, 0, 0], eye = c.eye.map((v, k) => v - shift[k]), slack = 4 * c.tanY * c.distance / h;
      actor.stage.lines.forEach((lines, k) => {
        if (this.opacity(actor, lines.layer) === 0) return;
        const p = actor.frame.lines[k].points;
        for (let i = 0; i < lines.radius.length; i++) {
          if (!this.lineShown(actor, k, i)) continue;
          for (let j = lines.offsets[i]; j < lines.offsets[i + 1] - 1; j++) {
            const hit = nearLine(eye, dir, p, 3 * j);
            if (hit.gap < lines.radius[i] + slack && hit.z > 0 && hit.z < best.z) best = { z: hit.z, kind: "line", actor, k, i };
          }
        }
      });
      actor.stage.meshes.forEach((mesh, k) => {
        if (mesh.body < 0 || this.opacity(actor, mesh.layer) * mesh.opacity < 0.2 || !this.meshShown(actor, k)) return;
        const m = M4.pose(actor.frame.poses, mesh.body, [0, 0, 0]), d = eye.map((v, q) => v - m[12 + q]);
        const turn = v => [0, 1, 2].map(q => m[4 * q] * v[0] + m[4 * q + 1] * v[1] + m[4 * q + 2] * v[2]);
        const z = hitMesh(turn(d), turn(dir), mesh);
        if (z < best.z) best = { z, kind: "body", actor, i: mesh.body, k: mesh.body };
      });
    }
    this.choose(best.kind ? best : null);
  }
  async choose(thing) {
    if (thing) thing.name = thing.kind === "line" ? thing.actor.stage.lines[thing.k].names[thing.i] : thing.actor.stage.bodies[thing.i];
    this.chosen = thing; this.own = []; $("chosen-charts").replaceChildren();
    $("chosen").hidden = !thing;
    this.restyle(); this.remember();
    if (!thing) return;
    const { actor, kind, k, i } = thing, source = this.sources[this.actors.indexOf(actor)];
        $("chosen-name").textContent = inWords(actor, thing);
    this.tellChosen();
    if (innerWidth <= 900) document.body.classList.remove("folded");
    $("panel").scrollTop = 0;
    if (this.live || this.time.length < 2) return;
    if (kind === "line") {
      const [time, value, length, force] = await source.line(k, i), lines = actor.stage.lines[k];
      if (this.chosen !== thing) return;
      if (lines.value) this.ownChart(`${lines.value}${unit(lines.unit)}`, time, [{ name: "", values: value }]);
      if (lines.pulls) this.ownChart("force [N]", time, [{ name: "", values: force }]);
      this.ownChart("length [m]", time, [{ name: "", values: length }]);
      actor.stage.signals.forEach((signal, s) => { // signals that name this muscle, such as its force
        const c = signal.components.indexOf(thing.name);
        if (c < 0 || !this.signals) return;
        const n = signal.components.length, all = this.signals[this.actors.indexOf(actor)];
        this.ownChart(`${signal.title}${unit(signal.unit)}`, all.time, [{ name: "", values: all.time.map ? Array.from(all.time, (_, r) => all.series[s][r * n + c]) : [] }]);
      });
    } else {
      const [time, x, y, z, ...turns] = await source.body(i), joint = actor.stage.joints.find(j => j.body === i);
      if (this.chosen !== thing) return;
      if (joint) {
        const angles = Array.from(time, (_, r) => turned(joint, turns.map(t => t[r]), 0, 4).map(x => x * 180 / Math.PI));
        this.ownChart("turn of the joint [deg]", time, ["x", "y", "z"].map((name, c) => ({ name, values: angles.map(a => a[c]) })));
      }
      this.ownChart("position [m]", time, [{ name: "x", values: x }, { name: "y", values: y }, { name: "z", values: z }]);
      const v = Array.from(time, (_, r) => { const a = Math.max(r - 1, 0), b = Math.min(r + 1, time.length - 1); return b > a ? Math.hypot(x[b] - x[a], y[b] - y[a], z[b] - z[a]) / (time[b] - time[a]) : 0; });
      this.ownChart("speed [m/s]", time, [{ name: "", values: v }]);
    }
    this.dirty = true;
  }
  ownChart(title, time, curves) { this.own.push(this.addChart($("chosen-charts"), title, time, curves)); }
  tellChosen() {
    const c = this.chosen;
    if (!c || !c.actor.frame) return;
    const facts = [];
    if (c.kind === "line") {
      const lines = c.actor.stage.lines[c.k], now = c.actor.frame.lines[c.k];
      facts.push(["kind", lines.muscle ? "muscle" : lines.layer], ["group", base(c.name).replaceAll("_", " ")]);
      if (now.values) facts.push([lines.value, `${short(valueOf(lines, now.values[c.i]))} ${lines.unit}`]);
      if (now.force) facts.push(["force", `${short(half(now.force[c.i]))} N`]);
      facts.push(["length", `${short(1000 * lengthOf(lines, now.points, c.i))} mm`], ["radius", `${short(1000 * lines.radius[c.i])} mm`]);
    } else {
      const p = c.actor.frame.poses, i = 7 * c.i;
      const joint = c.actor.stage.joints.find(j => j.body === c.i);
      facts.push(["kind", "bone or body"], ["position", `${short(p[i])}, ${short(p[i + 1])}, ${short(p[i + 2])} m`]);
      if (joint) {
        const turn = turned(joint, p, i + 3, joint.parent < 0 ? -1 : 7 * joint.parent + 3).map(x => x * 180 / Math.PI);
        const parent = joint.parent < 0 ? "the world" : inWords(c.actor, { kind: "body", i: joint.parent, name: c.actor.stage.bodies[joint.parent] });
        facts.push(["joint to", parent], ["turned by", `${short(Math.hypot(...turn))}°`], ["about x, y, z", turn.map(a => `${a.toFixed(1)}°`).join(", ")]);
      } else facts.push(["turned by", `${short(2 * Math.acos(Math.min(1, Math.abs(p[i + 3]))) * 180 / Math.PI)}° from its rest axes`]);
    }
    $("chosen-facts").replaceChildren(...facts.flat().map(text => Object.assign(document.createElement("span"), { textContent: text })));
  }
  keyOf(c) { return c.kind === "line" ? `line ${base(c.name)}` : `body ${c.name}`; }
  hide() { if (this.chosen) { this.hidden.add(this.keyOf(this.chosen)); this.only?.delete(this.keyOf(this.chosen)); this.choose(null); } }
  alone() { if (this.chosen) { this.only = new Set([this.keyOf(this.chosen)]); this.restyle(); this.remember(); } }
  aloneFound() { this.only = new Set(this.found.map(f => `one ${f.kind} ${f.name}`)); this.restyle(); this.remember(); }
  all() { this.only = null; this.hidden.clear(); this.restyle(); this.remember(); }
  // Signals
  async loadSignals() {
    if (!this.stage.signals.length) { $("signals").hidden = true; return; }
    this.signals = await Promise.all(this.sources.map(s => s.signals()));
    if (!this.charts.length) {
      const count = Math.min(3, this.stage.signals.length);
      for (let k = 0; k < count; k++) this.charts.push(this.signalChart(k));
    }
    for (const chart of this.charts) chart.load();
    this.dirty = true;
  }
  addChart(parent, title, time, curves) {
    const head = document.createElement("div"), keys = document.createElement("div");
    head.className = "chart-head"; keys.className = "keys"; head.textContent = title;
    parent.append(head);
    const chart = new Chart(parent, t => this.seek(this.nearest(t)));
    parent.append(keys);
    const one = { chart, head, keys, tell: t => {
      keys.replaceChildren(...chart.curves.slice(0, 8).flatMap((c, k) => {
        const ink = document.createElement("i"), text = document.createElement("span");
        ink.style.background = INKS[k % INKS.length];
        text.textContent = `${c.name} ${short(chart.at(t, c))}`;
        return [ink, text];
      }));
    } };
    chart.set(time, curves, "");
    return one;
  }
  signalChart(first) {
    const one = this.addChart($("charts"), "", [], []), choice = document.createElement("select");
    this.stage.signals.forEach((s, k) => choice.append(new Option(`${s.name}${unit(s.unit)}`, k, false, k === first)));
    const what = document.createElement("div");
    what.className = "keys";
    one.head.append(choice); one.head.after(what);
    one.load = () => {
      const k = +choice.value, signal = this.stage.signals[k], curves = [];
      this.signals.forEach((all, r) => {
        const at = this.sources[r].stage.signals.findIndex(s => s.name === signal.name);
        if (at < 0) return;
        const n = this.sources[r].stage.signals[at].components.length || 1;
        const names = this.sources[r].stage.signals[at].components;
        for (let c = 0; c < Math.min(n, 6); c++) {
          const values = r === 0 ? Float32Array.from(all.time, (_, i) => all.series[at][i * n + c])
            : Float32Array.from(this.signals[0].time, t => all.time.length ? all.series[at][this.nearest(t, all.time) * n + c] : NaN);
          curves.push({ name: `${names[c] || ""}${r ? " (second)" : ""}`, values });
        }
      });
      choice.title = "which signal"; what.textContent = signal.title === signal.name ? "" : signal.title;
      one.chart.set(this.signals[0].time, curves, signal.unit);
    };
    choice.addEventListener("change", () => { one.load(); this.dirty = true; });
    return one;
  }
  // Panel
  build() {
    const stage = this.stage, title = this.sources.map(s => s.stage.title).filter((t, k, all) => all.indexOf(t) === k).join(" and ");
    document.title = `${title} – vitruvian`;
    $("title").textContent = title;
    stage.cameras.forEach((camera, k) => {
      const button = document.createElement("button");
      button.textContent = camera.name; button.title = `camera ${camera.name}${k < 9 ? ` (${k + 1})` : ""}`;
      button.addEventListener("click", () => this.go(camera));
      $("cameras").append(button);
    });
    const layers = [...new Set(this.sources.flatMap(s => s.stage.layers))];
    for (const layer of layers) {
      const row = document.createElement("label"), box = document.createElement("input"), name = document.createElement("span"), range = document.createElement("input");
      row.className = "layer"; name.textContent = layer;
      Object.assign(box, { type: "checkbox", checked: true, title: `show ${layer}` });
      Object.assign(range, { type: "range", min: 0.05, max: 1, step: 0.05, value: 1, title: `opacity of ${layer}` });
      row.dataset.layer = layer;
      box.addEventListener("change", () => { box.checked ? this.off.delete(layer) : this.off.add(layer); this.dirty = true; this.remember(); });
      range.addEventListener("input", () => { this.opacities[layer] = +range.value; this.dirty = true; this.remember(); });
      row.append(box, name, range);
      $("layers").append(row);
    }
    const row = document.createElement("label"), box = document.createElement("input"), name = document.createElement("span");
    row.className = "layer"; name.textContent = "forces as arrows";
    Object.assign(box, { type: "checkbox", id: "arrows" });
    box.addEventListener("change", () => { this.arrowsOn = box.checked; this.dirty = true; this.remember(); });
    row.append(box, name);
    const told = document.createElement("div");
    told.className = "keys"; told.id = "forces";
    if (this.forces().length) $("layers").append(row);
    $("layers").append(told);
    const valued = new Map();
    for (const part of [...stage.surfaces, ...stage.lines]) if (part.value) valued.set(`${part.layer}: ${part.value}`, part);
    $("colours").hidden = !valued.size;
    for (const [key, part] of valued) {
      const row = document.createElement("label"), box = document.createElement("input"), name = document.createElement("span");
      row.className = "layer"; name.textContent = `${key}${unit(part.unit)}`;
      Object.assign(box, { type: "checkbox", checked: true, title: "colour by this value, or show the part's own colour" });
      box.addEventListener("change", () => { box.checked ? this.plain.delete(key) : this.plain.add(key); this.restyle(); });
      row.append(box, name);
      const bar = document.createElement("div"), ends = document.createElement("div");
      bar.className = "legend"; ends.className = "ends";
      bar.style.background = `linear-gradient(90deg, ${part.map.map(c => `rgb(${c.map(x => Math.round(255 * x)).join()})`).join()})`;
      part.range.forEach(x => ends.append(Object.assign(document.createElement("span"), { textContent: short(x) })));
      $("colour-list").append(row, bar, ends);
    }
    const settings = Object.entries(stage.settings);
    $("settings").hidden = !settings.length;
    for (const [key, value] of settings) $("setting-list").append(...[key, String(value)].map(text => Object.assign(document.createElement("span"), { textContent: text })));
    $("compare").hidden = this.actors.length < 2;
    $("beside").addEventListener("click", () => this.arrange("beside"));
    $("over").addEventListener("click", () => this.arrange("over"));
    if (innerWidth <= 900) document.body.classList.add("folded");
    this.listen();
    this.search("");
  }
  parts() { // bones and muscles that can be chosen
    const actor = this.actors[0];
    return [...actor.stage.bodies.map((name, i) => ({ kind: "body", actor, i, k: i, name })),
      ...actor.stage.lines.flatMap((lines, k) => lines.names.map((name, i) => ({ kind: "line", actor, k, i, name })))];
  }
  search(text) { // every word anywhere in the name; "_" and " " are one
    const plain = name => name.toLowerCase().replaceAll("_", " "), words = plain(text).split(" ").filter(word => word);
    this.found = words.length ? this.parts().filter(f => { const name = plain(`${f.name} ${inWords(f.actor, f)}`); return words.every(word => name.includes(word)); }) : [];
    $("found").replaceChildren(...this.found.slice(0, 60).map(f => {
      const button = document.createElement("button");
      button.textContent = inWords(f.actor, f);
      button.addEventListener("click", () => this.choose(f));
      return button;
    }));
    if (words.length && !this.found.length) $("found").textContent = "nothing of that name";
    if (this.found.length > 60) $("found").append(`and ${this.found.length - 60} more`);
    $("found-acts").hidden = !this.found.length;
  }
  listen() {
    const on = (id, kind, act) => $(id).addEventListener(kind, act);
    on("play", "click", () => this.toggle()); on("back", "click", () => this.step(-1)); on("on", "click", () => this.step(1));
    on("slider", "input", () => { if (this.playing) this.toggle(false); this.seek(+$("slider").value); });
    on("speed", "change", () => { this.speed = +$("speed").value; this.began = null; });
    on("menu", "click", () => this.fold()); on("ask", "click", () => { $("help").hidden = !$("help").hidden; });
    on("unchoose", "click", () => this.choose(null)); on("hide", "click", () => this.hide()); on("alone", "click", () => this.alone()); on("all", "click", () => this.all());
    on("find", "input", () => this.search($("find").value)); on("found-alone", "click", () => this.aloneFound()); on("found-all", "click", () => this.all());
    addEventListener("resize", () => { this.dirty = true; });
    new ResizeObserver(() => { this.dirty = true; }).observe(this.canvas);
    addEventListener("keydown", event => this.key(event));
    const touches = new Map();
    let moved = 0, pinch = 0;
    this.canvas.addEventListener("contextmenu", event => event.preventDefault());
    this.canvas.addEventListener("pointerdown", event => { this.canvas.setPointerCapture(event.pointerId); touches.set(event.pointerId, [event.clientX, event.clientY]); moved = 0; pinch = 0; this.canvas.focus(); });
    this.canvas.addEventListener("pointermove", event => {
      if (!touches.has(event.pointerId)) return;
      const [x, y] = touches.get(event.pointerId), dx = event.clientX - x, dy = event.clientY - y;
      touches.set(event.pointerId, [event.clientX, event.clientY]);
      moved += Math.abs(dx) + Math.abs(dy);
      const o = this.orbit;
      if (touches.size > 1) {
        const [a, b] = [...touches.values()], gap = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (pinch) o.distance *= pinch / Math.max(gap, 1);
        pinch = gap;
        this.pan(dx / 2, dy / 2);
      } else if (event.buttons & 2 || event.shiftKey) this.pan(dx, dy);
      else { o.yaw -= 0.006 * dx; o.pitch = Math.min(Math.max(o.pitch + 0.006 * dy, -1.57), 1.57); }
      this.dirty = true;
    });
    const up = event => {
      this.remember();
      if (touches.delete(event.pointerId) && moved < 6 && event.type === "pointerup" && event.button === 0) {
        const box = this.canvas.getBoundingClientRect();
        this.pick(event.clientX - box.left, event.clientY - box.top);
      }
    };
    this.canvas.addEventListener("pointerup", up); this.canvas.addEventListener("pointercancel", up);
    this.canvas.addEventListener("wheel", event => { event.preventDefault(); this.orbit.distance *= Math.exp(0.001 * Math.min(Math.max(event.deltaY, -240), 240)); this.dirty = true; this.remember(); }, { passive: false });
  }
  pan(dx, dy) {
    const c = this.camera(), s = 2 * c.tanY * c.distance / Math.max(this.canvas.clientHeight, 1);
    for (let k = 0; k < 3; k++) this.orbit.target[k] += s * (c.up[k] * dy - c.right[k] * dx);
  }
  fold() { document.body.classList.toggle("folded"); $("menu").setAttribute("aria-expanded", !document.body.classList.contains("folded")); this.dirty = true; }
  step(by) { if (this.playing) this.toggle(false); this.seek(Math.max(this.shown, 0) + by); }
  key(event) {
    if (event.target.matches("input[type=search], select") && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const speeds = [...$("speed").options].map(o => o.value), at = speeds.indexOf($("speed").value);
    const faster = by => { $("speed").value = speeds[Math.min(Math.max(at + by, 0), speeds.length - 1)]; this.speed = +$("speed").value; this.began = null; };
    const keys = {
      " ": () => this.toggle(), ArrowLeft: () => this.step(event.shiftKey ? -10 : -1), ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
      Home: () => this.seek(0), End: () => this.seek(this.time.length - 1), ArrowUp: () => faster(1), ArrowDown: () => faster(-1),
      l: () => { $("loop").checked = !$("loop").checked; }, m: () => this.fold(), "?": () => { $("help").hidden = !$("help").hidden; },
      "/": () => { document.body.classList.remove("folded"); $("find").focus(); }, h: () => this.hide(), i: () => this.alone(), a: () => this.all(),
      f: () => { this.arrowsOn = !this.arrowsOn; if ($("arrows")) $("arrows").checked = this.arrowsOn; this.dirty = true; this.remember(); },
      s: () => this.act(),
      Escape: () => { $("help").hidden = true; this.choose(null); $("find").blur(); },
    };
    const camera = this.stage.cameras[+event.key - 1];
    if (/^[1-9]$/.test(event.key)) { if (camera) this.go(camera); } else if (keys[event.key]) keys[event.key](); else return;
    event.preventDefault();
  }
}

function base(name) { return name.replace(/[_ ]?(left|right|[lr])?[_ ]?\d*$/i, "").replace(/_[lr]$/i, "").replace(/[_ ]\d+$/, "") || name; }
function inWords(actor, thing) { // a bone's name in words where the recording has it; a muscle's from its short name
  const [, stem, number, side] = thing.name.match(/^(.*?)(?:_(\d+))?(?:_([lr]))?$/);
  const words = thing.kind === "body" ? actor.stage.joints.find(j => j.body === thing.i)?.words
    : stem.replaceAll("_", " ") + (number ? ` ${+number}` : "") + (side ? `, ${side === "l" ? "left" : "right"}` : "");
  return words && words !== thing.name ? `${words} (${thing.name})` : thing.name;
}
function unit(word) { return word ? ` [${word}]` : ""; }
function short(x) { return isFinite(x) ? String(+(+x).toPrecision(4)) : "–"; }

const page = new Page();
page.begin();
