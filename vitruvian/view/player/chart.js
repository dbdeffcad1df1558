// Curves over time on a small canvas: the whole run, and a mark at the present instant that can be dragged.
"use strict";

const INKS = ["#b4382d", "#2f6f9f", "#3f8f5f", "#c08a2b", "#7a5aa6", "#4a4f59"];

function nice(low, high, count) { // round ticks
  const span = (high - low) || Math.abs(high) || 1, rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough * 0.999) || 10 * power;
  const ticks = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * span; t += step) ticks.push(Math.abs(t) < 1e-9 * step ? 0 : t);
  return { ticks, step };
}

function label(value, step) { // as many digits as tell neighbours apart
  if (value === 0) return "0";
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5 || step < 1e-4) return value.toExponential(Math.min(Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)), 3)).replace("e+", "e");
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

class Chart {
  constructor(parent, onTime) {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "chart";
    parent.append(this.canvas);
    this.curves = [];
    const seek = event => {
      const box = this.canvas.getBoundingClientRect();
      const part = (event.clientX - box.left - this.left) / (box.width - this.left - 8);
      onTime(this.low + Math.min(Math.max(part, 0), 1) * (this.high - this.low));
    };
    this.canvas.addEventListener("pointerdown", event => { this.canvas.setPointerCapture(event.pointerId); seek(event); });
    this.canvas.addEventListener("pointermove", event => { if (event.buttons) seek(event); });
  }
  set(time, curves, unit) { // curves: [{name, values}]
    this.time = time; this.curves = curves; this.unit = unit;
    let low = Infinity, high = -Infinity;
    for (const curve of curves) for (const y of curve.values) if (isFinite(y)) { if (y < low) low = y; if (y > high) high = y; }
    if (low > high) { low = 0; high = 1; }
    const pad = 0.05 * ((high - low) || Math.abs(high) || 1);
    this.bottom = low - pad; this.top = high + pad;
    this.low = time.length ? time[0] : 0; this.high = time.length > 1 ? time[time.length - 1] : this.low + 1;
  }
  draw(now) {
    const scale = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    if (!box.width || !this.time) return;
    const w = Math.round(box.width * scale), h = Math.round(box.height * scale);
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    pen.font = "11px system-ui, sans-serif";
    const up = nice(this.bottom, this.top, 4), words = up.ticks.map(t => label(t, up.step));
    this.left = 10 + Math.max(...words.map(t => pen.measureText(t).width), 10);
    const right = box.width - 8, bottom = box.height - 16, top = 6;
    const x = t => this.left + (t - this.low) / ((this.high - this.low) || 1) * (right - this.left);
    const y = v => bottom - (v - this.bottom) / ((this.top - this.bottom) || 1) * (bottom - top);
    pen.fillStyle = "#6a7480"; pen.strokeStyle = "#e3e7ec"; pen.lineWidth = 1;
    up.ticks.forEach((t, k) => {
      pen.beginPath(); pen.moveTo(this.left, y(t)); pen.lineTo(right, y(t)); pen.stroke();
      pen.textAlign = "right"; pen.textBaseline = "middle"; pen.fillText(words[k], this.left - 4, y(t));
    });
    const across = nice(this.low, this.high, 4);
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const t of across.ticks) pen.fillText(label(t, across.step) + (t === across.ticks[across.ticks.length - 1] ? " s" : ""), Math.min(x(t), right - 12), bottom + 3);
    this.curves.forEach((curve, k) => {
      pen.strokeStyle = INKS[k % INKS.length]; pen.lineWidth = 1.5; pen.beginPath();
      let open = false;
      for (let i = 0; i < this.time.length; i++) {
        if (!isFinite(curve.values[i])) { open = false; continue; }
        open ? pen.lineTo(x(this.time[i]), y(curve.values[i])) : pen.moveTo(x(this.time[i]), y(curve.values[i]));
        open = true;
      }
      pen.stroke();
    });
    pen.strokeStyle = "#2c3440"; pen.lineWidth = 1; pen.beginPath();
    pen.moveTo(x(now), top); pen.lineTo(x(now), bottom); pen.stroke();
  }
  at(now, curve) { // value of a curve at the instant before `now`
    let low = 0, high = this.time.length - 1;
    while (low < high) { const m = (low + high + 1) >> 1; this.time[m] <= now + 1e-9 ? low = m : high = m - 1; }
    return curve.values[low];
  }
}
