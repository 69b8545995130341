// SPDX-License-Identifier: Apache-2.0
// Draws the map of machines from the data in this page. Nothing is loaded.
"use strict";
(() => {
  const by = id => document.getElementById(id);
  const data = JSON.parse(by("map-data").textContent);
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const names = coded => {
    const result = [];
    for (let i = 0, before = "", same = 0; i < coded.length; ++i) {
      if (typeof coded[i] === "number") { same = coded[i]; continue; }
      // counts are of bytes of UTF-8, so that names of any script keep their characters
      before = same === 0 ? coded[i] : kept(before, same) + coded[i];
      result.push(before);
      same = 0;
    }
    return result;
  };
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const kept = (text, same) => decoder.decode(encoder.encode(text).subarray(0, same));
  const numbers = coded => {
    const result = [];
    for (let at = 0, value = 0, factor = 1; at < coded.length; ++at) {
      value += (coded[at] & 127) * factor;
      factor *= 128;
      if (coded[at] < 128) { result.push(value); value = 0; factor = 1; }
    }
    return result;
  };

  const NO_GPUS = 254, CLOSED = 255;
  const machines = names(data.machine_names), racks = names(data.rack_names), pods = names(data.pod_names);
  const classes = numbers(bytes(data.machine_classes)), use = bytes(data.use), price = bytes(data.price);
  const jobNames = data.job_names ? names(data.job_names) : [];
  const rackOf = new Int32Array(machines.length), jobsOn = [];
  for (let r = 0, m = 0; r < racks.length; ++r) {
    for (let i = 0; i < data.racks[2 * r + 1]; ++i) rackOf[m++] = r;
  }
  if (data.jobs) {
    const coded = numbers(bytes(data.jobs));
    for (let at = 0; at < coded.length;) {
      const count = coded[at++], list = [];
      for (let i = 0, job = 0; i < count; ++i) list.push(job += coded[at++]);
      jobsOn.push(list);
    }
  }

  // Puts boxes of [width, height] in rows of about the given width, `gap` apart.
  const shelves = (boxes, width, gap) => {
    const places = [];
    let left = 0, top = 0, height = 0, right = 0;
    for (const [w, h] of boxes) {
      if (left > 0 && left + w > width) { left = 0; top += height + gap; height = 0; }
      places.push([left, top]);
      left += w + gap;
      right = Math.max(right, left - gap);
      height = Math.max(height, h);
    }
    return {places, width: right, height: top + height};
  };
  const shelved = (boxes, gap, aspect) => {
    const area = boxes.reduce((sum, [w, h]) => sum + (w + gap) * (h + gap), 0);
    const widest = boxes.reduce((most, [w]) => Math.max(most, w), 1);
    return shelves(boxes, Math.max(widest, Math.ceil(Math.sqrt(area * aspect))), gap);
  };
  // Width to height of the map: as the canvas has it, on narrow screens upright.
  const aspect = Math.min(2.6, Math.max(0.7, (document.documentElement.clientWidth - 34) / 418));
  // Cells of a world in which a machine is one square: racks are blocks within blocks of pods.
  const layout = () => {
    const columns = size => Math.max(1, Math.ceil(Math.sqrt(size)));
    const inPod = pods.map(() => []);
    for (let r = 0; r < racks.length; ++r) inPod[data.racks[2 * r]].push(r);
    const boxes = inPod.map(list => shelved(list.map(r => {
      const size = data.racks[2 * r + 1];
      return [columns(size), Math.ceil(size / columns(size))];
    }), 1, pods.length > 1 ? Math.min(1.3, aspect) : aspect));
    const all = shelved(boxes.map(box => [box.width, box.height]), 3, aspect);
    const first = new Int32Array(racks.length + 1);
    for (let r = 0; r < racks.length; ++r) first[r + 1] = first[r] + data.racks[2 * r + 1];
    const x = new Int32Array(machines.length), y = new Int32Array(machines.length);
    inPod.forEach((list, p) => list.forEach((r, k) => {
      const size = data.racks[2 * r + 1];
      for (let i = 0; i < size; ++i) {
        x[first[r] + i] = all.places[p][0] + boxes[p].places[k][0] + i % columns(size);
        y[first[r] + i] = all.places[p][1] + boxes[p].places[k][1] + Math.floor(i / columns(size));
      }
    }));
    return {x, y, width: all.width, height: all.height};
  };
  const world = layout();
  const at = new Int32Array(world.width * world.height + world.width + world.height).fill(-1);
  for (let m = 0; m < machines.length; ++m) at[world.y[m] * world.width + world.x[m]] = m;

  // Cividis, which most kinds of colour blindness leave in order.
  const RAMP = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
  const CYCLE = [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167], [153, 153, 153]];
  const ramp = part => {
    const position = Math.min(0.999, Math.max(0, part)) * (RAMP.length - 1), i = Math.floor(position);
    return RAMP[i].map((c, k) => Math.round(c + (RAMP[i + 1][k] - c) * (position - i)));
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const blank = () => dark.matches ? [48, 54, 61] : [225, 228, 232];
  const colour = (layer, m) => {
    if (layer === "job") {
      return jobsOn[m] && jobsOn[m].length > 0 ? CYCLE[jobsOn[m][0] % CYCLE.length] : blank();
    }
    const values = layer === "price" ? price : use;
    return values[m] >= NO_GPUS ? blank() : ramp(values[m] / 100);
  };

  const canvas = by("map"), screen = canvas.getContext("2d");
  const picture = document.createElement("canvas");
  picture.width = world.width; picture.height = world.height;
  let layer = "use", chosen = -1, view = null;

  const paint = () => {
    const context = picture.getContext("2d"), image = context.createImageData(world.width, world.height);
    for (let m = 0; m < machines.length; ++m) {
      const i = 4 * (world.y[m] * world.width + world.x[m]);
      image.data.set([...colour(layer, m), 255], i);
    }
    context.putImageData(image, 0, 0);
    draw();
  };
  const fit = () => {
    const scale = Math.min(canvas.width / world.width, canvas.height / world.height);
    return {scale, left: (canvas.width - scale * world.width) / 2, top: (canvas.height - scale * world.height) / 2};
  };
  const cell = m => [view.left + view.scale * world.x[m], view.top + view.scale * world.y[m], view.scale];
  const lines = (ink, step, size, offset) => {
    screen.fillStyle = ink;
    for (let i = 0; i <= size; ++i) step(offset + i * view.scale);
  };
  const grid = ink => {
    lines(ink, x => screen.fillRect(x - 0.5, view.top, 1, view.scale * world.height), world.width, view.left);
    lines(ink, y => screen.fillRect(view.left, y - 0.5, view.scale * world.width, 1), world.height, view.top);
  };
  const marks = ink => {
    screen.strokeStyle = screen.fillStyle = ink;
    for (let m = 0; m < machines.length; ++m) {
      if (use[m] < NO_GPUS) continue;
      const [x, y, s] = cell(m);
      if (x < -s || y < -s || x > canvas.width || y > canvas.height) continue;
      if (use[m] === NO_GPUS) { screen.fillRect(x + 0.4 * s, y + 0.4 * s, 0.2 * s, 0.2 * s); continue; }
      screen.beginPath();
      screen.moveTo(x + 0.15 * s, y + 0.15 * s); screen.lineTo(x + 0.85 * s, y + 0.85 * s);
      screen.moveTo(x + 0.85 * s, y + 0.15 * s); screen.lineTo(x + 0.15 * s, y + 0.85 * s);
      screen.stroke();
    }
  };
  const draw = () => {
    screen.clearRect(0, 0, canvas.width, canvas.height);
    screen.imageSmoothingEnabled = view.scale < 1;
    screen.drawImage(picture, view.left, view.top, view.scale * world.width, view.scale * world.height);
    const style = getComputedStyle(document.documentElement);
    if (view.scale >= 6) grid(style.getPropertyValue("--panel"));
    if (view.scale >= 5) marks(style.getPropertyValue("--text"));
    if (chosen < 0) return;
    const [x, y, s] = cell(chosen);
    screen.lineWidth = 3;
    screen.strokeStyle = style.getPropertyValue("--more");
    screen.strokeRect(x - 1, y - 1, s + 2, s + 2);
    screen.lineWidth = 1;
  };
  const limit = view => {
    const least = fit();
    return view.scale <= least.scale ? least : view;
  };
  const zoom = (factor, x, y) => {
    const scale = Math.min(64, view.scale * factor), by = scale / view.scale;
    view = limit({scale, left: x - (x - view.left) * by, top: y - (y - view.top) * by});
    draw();
  };
  const centre = () => {
    if (chosen < 0) return [canvas.width / 2, canvas.height / 2];
    const [x, y, s] = cell(chosen);
    return [x + s / 2, y + s / 2];
  };

  const words = m => {
    const list = jobsOn[m] || [], rack = rackOf[m];
    let text = `${machines[m]} (rack ${racks[rack]}, pod ${pods[data.racks[2 * rack]]}), ${data.classes[classes[m]]}: `;
    text += use[m] === CLOSED ? "closed" : use[m] === NO_GPUS ? "no GPUs" : `${use[m]} % of its GPUs busy`;
    if (price.length > 0 && price[m] < NO_GPUS) text += `, price ${price[m]} % of the highest`;
    if (data.jobs) {
      text += list.length === 0 ? "; no job" : `; ${list.length === 1 ? "job" : "jobs"} ` +
        list.slice(0, 8).map(j => jobNames[j]).join(", ") + (list.length > 8 ? ` and ${list.length - 8} more` : "");
    }
    return text;
  };
  const choose = (m, follow) => {
    if (m === chosen) return;
    chosen = m;
    by("map-state").textContent = m < 0 ? "" : words(m);
    if (follow && m >= 0) {
      const [x, y, s] = cell(m);
      if (x < 0 || x + s > canvas.width) view.left += canvas.width / 2 - x;
      if (y < 0 || y + s > canvas.height) view.top += canvas.height / 2 - y;
    }
    draw();
  };
  const under = event => {
    const box = canvas.getBoundingClientRect(), ratio = canvas.width / canvas.clientWidth;
    return [(event.clientX - box.left - canvas.clientLeft) * ratio, (event.clientY - box.top - canvas.clientTop) * ratio];
  };
  const machineAt = (px, py) => {
    const x = Math.floor((px - view.left) / view.scale), y = Math.floor((py - view.top) / view.scale);
    return x < 0 || y < 0 || x >= world.width || y >= world.height ? -1 : at[y * world.width + x];
  };
  // The nearest machine in a direction, first along the line, then anywhere beyond.
  const neighbour = (dx, dy) => {
    if (chosen < 0) return 0;
    const across = dx !== 0 ? world.y : world.x, along = dx !== 0 ? world.x : world.y, sign = dx + dy;
    let best = chosen, distance = Infinity;
    for (let m = 0; m < machines.length; ++m) {
      const ahead = sign * (along[m] - along[chosen]), aside = Math.abs(across[m] - across[chosen]);
      if (ahead > 0 && ahead + 1000 * aside < distance) { best = m; distance = ahead + 1000 * aside; }
    }
    return best;
  };

  const legend = () => {
    const box = by("map-legend");
    box.replaceChildren();
    if (layer === "job") { box.append("Neighbouring jobs have different colours; grey: none."); return; }
    const strip = document.createElement("canvas");
    strip.width = 100; strip.height = 1;
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", "colours from dark to light");
    const context = strip.getContext("2d");
    for (let i = 0; i < 100; ++i) {
      context.fillStyle = `rgb(${ramp(i / 99)})`;
      context.fillRect(i, 0, 1, 1);
    }
    const [low, high] = layer === "price" ? ["free of charge", "highest price"] : ["all GPUs free", "all busy"];
    box.append(low, strip, high);
  };
  const resize = () => {
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    view = fit();
    draw();
  };

  const select = by("map-layer");
  const offer = (value, text) => {
    const option = document.createElement("option");
    option.value = value; option.textContent = text;
    select.append(option);
  };
  if (price.length > 0) offer("price", "price of a GPU");
  if (data.jobs) offer("job", "jobs");
  select.addEventListener("change", () => { layer = select.value; legend(); paint(); });
  by("map-in").addEventListener("click", () => zoom(1.6, ...centre()));
  by("map-out").addEventListener("click", () => zoom(1 / 1.6, ...centre()));
  by("map-all").addEventListener("click", () => { view = fit(); draw(); });
  by("map-find").addEventListener("input", event => {
    const wanted = event.target.value;
    if (wanted === "") return;
    let found = machines.indexOf(wanted);
    const job = found < 0 ? jobNames.indexOf(wanted) : -1;
    if (job >= 0) found = jobsOn.findIndex(list => list.includes(job));
    if (found < 0) found = machines.findIndex(name => name.startsWith(wanted));
    if (found >= 0) choose(found, true);
    else by("map-state").textContent = "nothing has this name";
  });
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8, ...under(event));
  }, {passive: false});
  let drag = null;
  canvas.addEventListener("pointerdown", event => { drag = under(event); });
  addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointermove", event => {
    const [x, y] = under(event);
    if (drag && event.buttons === 1) {
      view = limit({scale: view.scale, left: view.left + x - drag[0], top: view.top + y - drag[1]});
      drag = [x, y];
      draw();
    } else {
      choose(machineAt(x, y), false);
    }
  });
  canvas.addEventListener("keydown", event => {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (steps[event.key]) choose(neighbour(...steps[event.key]), true);
    else if (event.key === "+" || event.key === "=") zoom(1.6, ...centre());
    else if (event.key === "-") zoom(1 / 1.6, ...centre());
    else if (event.key === "0") { view = fit(); draw(); }
    else return;
    event.preventDefault();
  });
  dark.addEventListener("change", paint);
  by("map-figure").hidden = machines.length === 0;
  view = {scale: 1, left: 0, top: 0};
  if (machines.length > 0) {
    legend();
    resize();
    paint();
    addEventListener("resize", resize);
  }
})();
