// What a ray from the eye meets first: lines, triangles.
"use strict";

function nearLine(eye, dir, p, at) { // least distance of a ray from a stretch, and how far along the ray
  const d = [p[at + 3] - p[at], p[at + 4] - p[at + 1], p[at + 5] - p[at + 2]], w = [eye[0] - p[at], eye[1] - p[at + 1], eye[2] - p[at + 2]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2], b = dot(dir, d), c = dot(d, d), e = dot(dir, w), f = dot(d, w), q = c - b * b;
  const s = Math.min(Math.max(q > 1e-12 ? (f - b * e) / q : 0, 0), 1), z = s * b - e;
  return { z, gap: Math.hypot(w[0] + z * dir[0] - s * d[0], w[1] + z * dir[1] - s * d[1], w[2] + z * dir[2] - s * d[2]) };
}

function hitMesh(eye, dir, mesh) { // distance along a ray to the nearest triangle
  let from = 0, to = Infinity;
  for (let c = 0; c < 3; c++) {
    const a = (mesh.box.low[c] - eye[c]) / dir[c], b = (mesh.box.high[c] - eye[c]) / dir[c];
    from = Math.max(from, Math.min(a, b)); to = Math.min(to, Math.max(a, b));
  }
  if (!(from <= to)) return Infinity;
  let best = Infinity;
  const v = mesh.vertices, f = mesh.faces;
  for (let k = 0; k < f.length; k += 3) {
    const a = 3 * f[k], b = 3 * f[k + 1], c = 3 * f[k + 2];
    const e1 = [v[b] - v[a], v[b + 1] - v[a + 1], v[b + 2] - v[a + 2]], e2 = [v[c] - v[a], v[c + 1] - v[a + 1], v[c + 2] - v[a + 2]];
    const h = [dir[1] * e2[2] - dir[2] * e2[1], dir[2] * e2[0] - dir[0] * e2[2], dir[0] * e2[1] - dir[1] * e2[0]];
    const det = e1[0] * h[0] + e1[1] * h[1] + e1[2] * h[2];
    if (Math.abs(det) < 1e-20) continue;
    const s = [eye[0] - v[a], eye[1] - v[a + 1], eye[2] - v[a + 2]], u = (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]) / det;
    if (u < 0 || u > 1) continue;
    const q = [s[1] * e1[2] - s[2] * e1[1], s[2] * e1[0] - s[0] * e1[2], s[0] * e1[1] - s[1] * e1[0]], w = (dir[0] * q[0] + dir[1] * q[1] + dir[2] * q[2]) / det;
    if (w < 0 || u + w > 1) continue;
    const z = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
    if (z > 0 && z < best) best = z;
  }
  return best;
}
