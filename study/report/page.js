'use strict';
// Each section shows one run. All sections share the range of time, the chosen
// attempt, job and finding. Names are only ever set as text.
(async () => {
  const $ = (s, of) => (of || document).querySelector(s);
  const $$ = (s, of) => [...(of || document).querySelectorAll(s)];
  const css = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const views = [];
  const state = {run: 0, attempt: -1, job: -1, finding: -1, from: 0, to: 0};
  const filter = {injob: '', node: '', kind: '', state: '', slow: '', colour: ''}; // of the attempts of all sections; empty: any, and the colours of phases
  const accounts = new Map(); // properties with their colours: an account of a phase has that of the phase
  const order = {by: 'time', down: true}; // of the tables of tasks
  let longest = 1, scheduled = false, address = 0;

  // unpack reads the data of a run: JSON, a zero byte, columns of varints.
  async function unpack(base64) {
    const text = atob(base64), packed = new Uint8Array(text.length);
    for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const zero = bytes.indexOf(0);
    const run = JSON.parse(new TextDecoder().decode(bytes.subarray(0, zero)));
    let at = zero + 1;
    const column = (type, difference) => {
      const list = new type(run.rows);
      let last = 0;
      for (let i = 0; i < run.rows; i++) {
        let byte = bytes[at++], value = byte & 127, factor = 128;
        while (byte & 128) {
          byte = bytes[at++];
          value += (byte & 127) * factor;
          factor *= 128;
        }
        value = value % 2 ? -(value + 1) / 2 : value / 2;
        last = difference ? last + value : value;
        list[i] = last;
      }
      return list;
    };
    run.lane = column(Uint32Array, true);
    run.job = column(Uint32Array, true);
    run.kind = column(Uint8Array);
    run.task = column(Uint32Array, true);
    run.number = column(Uint16Array);
    run.state = column(Uint8Array);
    run.start = column(Float64Array, true);
    run.phase = run.phases.map(() => column(Float64Array));
    run.length = column(Float64Array); // the rest that no phase has
    run.waits = column(Float64Array);
    run.work = run.works.map(() => column(Float64Array));
    run.used = run.phase.map(p => p.some(t => t > 0));
    run.phase.forEach((times, p) => {
      if (run.used[p]) for (let i = 0; i < run.rows; i++) run.length[i] += times[i];
    });
    run.bare = [false, false]; // maps and reduces without phases
    for (let i = 0; i < run.rows; i++) if (run.kind[i] < 2 && !run.phase.some(p => p[i])) run.bare[run.kind[i]] = true;
    run.end = 1;
    for (let i = 0; i < run.rows; i++) run.end = Math.max(run.end, run.start[i] + run.length[i]);
    for (const j of run.jobs) run.end = Math.max(run.end, j.finish);
    run.first = new Uint32Array(run.lanes.length + 1); // first attempt of each lane
    for (let i = run.rows - 1; i >= 0; i--) run.first[run.lane[i]] = i;
    run.first[run.lanes.length] = run.rows;
    for (let l = run.lanes.length - 1; l > 0; l--) {
      if (run.first[l] === 0) run.first[l] = run.first[l + 1];
    }
    return run;
  }

  const letters = ['m', 'r'];
  const name = (run, i) => `${run.jobs[run.job[i]] ? run.jobs[run.job[i]].id : '?'}/${letters[run.kind[i]] || run.kinds[run.kind[i]]}/${run.task[i]}`;
  // key numbers the tasks of a run, and number is the key of the task with a name.
  const key = (job, kind, task) => (job * 16 + kind) * 2 ** 26 + task;
  function number(run, name) {
    const task = name.lastIndexOf('/'), kind = name.lastIndexOf('/', task - 1), job = name.slice(0, kind);
    if (!run.numbers) run.numbers = new Map(run.jobs.map((j, i) => [j.id, i]));
    const word = name.slice(kind + 1, task), k = letters.includes(word) ? letters.indexOf(word) : run.kinds.indexOf(word);
    return run.numbers.has(job) && k >= 0 ? key(run.numbers.get(job), k, +name.slice(task + 1)) : -1;
  }
  const seconds = us => (us / 1e6).toFixed(us < 1e7 ? 2 : 1) + ' s';
  // amount writes a count; those of bytes with a unit.
  function amount(n, bytes) {
    if (!bytes) return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
    let unit = 0;
    for (; n >= 1024 && unit < 5; unit++) n /= 1024;
    return (unit && n < 100 ? n.toFixed(1) : Math.round(n)) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit];
  }
  const nodeOf = (run, i) => run.nodes[run.lanes[run.lane[i]][0]];

  // size fits a canvas to its place and clears it.
  function size(canvas) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    const c = canvas.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    return [c, width, height];
  }
  // All views over time leave room on their left for the names of nodes.
  const gutter = () => innerWidth < 700 ? 48 : 92;
  const x = (us, width) => gutter() + (us - state.from) / (state.to - state.from) * (width - gutter());
  // moment is the time under a pointer, as part of the range shown and as such.
  function moment(canvas, event) {
    const box = canvas.getBoundingClientRect(), part = (event.clientX - box.left - gutter()) / (box.width - gutter());
    return [part, state.from + part * (state.to - state.from)];
  }
  // left shades the time of the chosen attempt, covers what a view drew over the room on
  // its left, and writes the value of its highest line there.
  function left(v, c, width, height, most) {
    const i = state.run === v.index ? state.attempt : -1;
    if (i >= 0) {
      const from = x(v.run.start[i], width);
      c.globalAlpha = 0.15;
      c.fillStyle = css('mark');
      c.fillRect(from, 0, Math.max(2, x(v.run.start[i] + v.run.length[i], width) - from), height);
      c.globalAlpha = 1;
    }
    c.clearRect(0, 0, gutter(), height);
    if (!most) return;
    c.fillStyle = css('faint');
    c.font = '11px sans-serif';
    c.textAlign = 'right';
    c.fillText(most, gutter() - 4, labels + 5);
    c.fillText('0', gutter() - 4, height - 2);
    c.textAlign = 'left';
  }

  // pixel returns the bytes of a colour.
  const pixels = new Map(), dot = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  function pixel(colour) {
    if (!pixels.has(colour)) {
      dot.fillStyle = colour;
      dot.fillRect(0, 0, 1, 1);
      pixels.set(colour, new Uint32Array(dot.getImageData(0, 0, 1, 1).data.buffer)[0]);
    }
    return pixels.get(colour);
  }

  // paint draws all attempts, or those with a mark, and returns those that did not
  // succeed. Each lane has its own line; a gap of a pixel keeps attempts apart. An attempt
  // shorter than a pixel has the colour of its longest phase. Pixels are set one
  // by one, which a million attempts take less time for than rectangles.
  function paint(v, canvas, kept) {
    const run = v.run, wide = canvas.width = Math.max(1, Math.round(v.chart.width - gutter() * (window.devicePixelRatio || 1))), high = canvas.height = v.chart.height, c = canvas.getContext('2d');
    const image = c.createImageData(Math.max(1, wide), Math.max(1, high)), points = new Uint32Array(image.data.buffer), scale = wide / (state.to - state.from);
    const colours = [...run.phases.map(p => pixel(css(p))), ...['other', 'maps', 'reduces'].map(c => pixel(css(c)))];
    const jobs = filter.colour && run.jobs.map((_, j) => pixel(css(jobColour(j))));
    const marks = [], step = high / Math.max(1, run.lanes.length), all = run.phases.length, used = [];
    run.phases.forEach((_, p) => { if (run.used[p]) used.push(p); });
    let top = 0, bottom = 0;
    const fill = (a, b, colour) => {
      for (let y = top; y < bottom; y++) for (let at = y * wide + a, end = y * wide + b; at < end; at++) points[at] = colour;
    };
    for (let lane = 0; lane < run.lanes.length; lane++) {
      top = Math.floor(lane * step);
      bottom = Math.max(top + 1, Math.floor((lane + 1) * step) - (step > 3 ? 1 : 0));
      let drawn = -1;
      for (let i = run.first[lane]; i < run.first[lane + 1]; i++) {
        if (kept && !kept[i]) continue;
        const from = run.start[i], to = from + run.length[i];
        if (to < state.from) continue;
        if (from > state.to) break;
        const left = Math.max(0, Math.floor((from - state.from) * scale)), right = Math.min(wide, Math.max(left + 1, Math.floor((to - state.from) * scale)));
        if (right <= drawn) continue;
        drawn = right;
        const gap = right - left > 3 ? 1 : 0;
        if (jobs) {
          fill(left, right - gap, jobs[run.job[i]]);
        } else if (right - left < 2) {
          let most = 0, longest = run.kind[i] < 2 ? all + 1 + run.kind[i] : all;
          for (const p of used) {
            if (run.phase[p][i] > most) {
              most = run.phase[p][i];
              longest = p;
            }
          }
          fill(left, right, colours[longest]);
        } else {
          let at = from, painted = left;
          for (const p of used) {
            if (!run.phase[p][i]) continue;
            at += run.phase[p][i];
            const b = Math.min(Math.floor((at - state.from) * scale), right - gap);
            if (b > painted) {
              fill(painted, b, colours[p]);
              painted = b;
            }
          }
          if (right - gap > painted) fill(painted, right - gap, colours[at === from && run.kind[i] < 2 ? all + 1 + run.kind[i] : all]);
        }
        if (run.state[i] !== 0) marks.push(i, lane);
      }
    }
    c.putImageData(image, 0, 0);
    return marks;
  }
  const jobColour = job => 'job' + job % 12;
  // tellColours writes the legend of the chart.
  function tellColours(v) {
    if (v.legend === filter.colour) return;
    v.legend = filter.colour;
    const run = v.run, list = filter.colour ? run.jobs.slice(0, 12).map((j, k) => [jobColour(k), j.id]) : run.phases.filter((_, k) => run.used[k]).map(p => [p, p]);
    if (!filter.colour) ['map', 'reduce'].forEach((kind, k) => { if (run.bare[k]) list.push([kind + 's', kind + ', phases not recorded']); });
    $('.legend', v.section).replaceChildren(...list.flatMap(([colour, text]) => [entry(colour, text), ' ']), filter.colour && run.jobs.length > 12 ? 'and so on' : '');
  }
  // any makes the test of a pattern in which * is any text.
  function any(pattern) {
    const parts = pattern.split('*').map(p => p.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const whole = new RegExp('^' + parts.join('.*') + '$', 'i');
    return text => whole.test(text);
  }
  // usualTimes are the median times of the jobs' maps and reduces.
  function usualTimes(run) {
    return run.jobs.map(j => {
      const times = [];
      for (const u of j.usual) times[u.kind] = u.phases.reduce((a, b) => a + b, 0);
      return times;
    });
  }
  // keep marks the attempts that the filter and the chosen job leave; null: all.
  function keep(v) {
    const run = v.run, job = state.run === v.index && run.jobs.length > 1 ? state.job : -1;
    const key = JSON.stringify({...filter, colour: ''}) + job;
    if (v.keptFor === key) return v.kept;
    v.keptFor = key;
    v.kept = null;
    if (job >= 0 || Object.entries(filter).some(([k, f]) => f && k !== 'colour')) {
      const jobs = filter.injob ? run.jobs.map(j => any(filter.injob)(j.id)) : null, nodes = filter.node ? run.nodes.map(any(filter.node)) : null;
      const kind = filter.kind ? run.kinds.indexOf(filter.kind) : -1, end = filter.state ? run.states.indexOf(filter.state) : -1;
      const usual = filter.slow ? usualTimes(run) : null;
      v.kept = new Uint8Array(run.rows);
      for (let i = 0; i < run.rows; i++) {
        v.kept[i] = (job < 0 || run.job[i] === job) && (!jobs || jobs[run.job[i]]) && (!nodes || nodes[run.lanes[run.lane[i]][0]]) &&
          (!filter.kind || run.kind[i] === kind) && (!filter.state || run.state[i] === end) &&
          (!usual || usual[run.job[i]] && run.length[i] > 1.5 * usual[run.job[i]][run.kind[i]]) ? 1 : 0;
      }
    }
    return v.kept;
  }
  // drawChart paints all attempts again only if the range of time, the size or the
  // colours have changed. Those that the filter leaves out are faint.
  function drawChart(v) {
    const [c, width, height] = size(v.chart), run = v.run, rowHeight = height / Math.max(1, run.lanes.length);
    const kept = keep(v);
    const finding = state.run === v.index && state.finding >= 0 ? run.findings[state.finding] : null;
    const painted = [state.from, state.to, v.chart.width, v.chart.height, css('ground'), filter.colour].join();
    if (v.painted !== painted) {
      v.marks = paint(v, v.all, null);
      v.painted = painted;
    }
    c.globalAlpha = kept ? 0.15 : 1;
    c.drawImage(v.all, gutter(), 0, width - gutter(), height);
    c.globalAlpha = 1;
    if (kept) {
      if (v.paintedOwn !== painted + v.keptFor) paint(v, v.own, kept);
      v.paintedOwn = painted + v.keptFor;
      c.drawImage(v.own, gutter(), 0, width - gutter(), height);
    }
    const marks = v.marks;
    for (let k = 0; k < marks.length; k += 2) { // failed: a red line; killed: a dashed one
      const i = marks[k], killed = run.states[run.state[i]] === 'KILLED', y = (marks[k + 1] + 0.5) * rowHeight;
      c.strokeStyle = css(killed ? 'text' : 'mark');
      c.setLineDash(killed ? [3, 3] : []);
      c.beginPath();
      c.moveTo(x(run.start[i], width), y);
      c.lineTo(x(run.start[i] + run.length[i], width), y);
      c.stroke();
    }
    c.setLineDash([]);
    c.strokeStyle = css('mark');
    c.lineWidth = 2;
    if (finding && finding.node) {
      let first = -1; // one frame around the lanes of the node
      for (let l = 0; l <= run.lanes.length; l++) {
        const own = l < run.lanes.length && run.nodes[run.lanes[l][0]] === finding.node;
        if (own && first < 0) first = l;
        if (!own && first >= 0) {
          c.strokeRect(1, first * rowHeight, width - 2, (l - first) * rowHeight);
          first = -1;
        }
      }
    }
    if (finding && finding.tasks) {
      const wanted = new Set(finding.tasks.slice(0, 2000).map(t => number(run, t)));
      for (let i = 0; i < run.rows; i++) if (wanted.has(key(run.job[i], run.kind[i], run.task[i]))) outline(c, run, i, width, rowHeight);
    }
    if (state.run === v.index && state.attempt >= 0) outline(c, run, state.attempt, width, rowHeight);
    c.lineWidth = 1;
    left(v, c, width, height);
    c.fillStyle = css('faint');
    c.font = '11px sans-serif';
    let below = 0; // names that would overlap are left out
    for (let l = 0; l < run.lanes.length; l++) {
      if (l > 0 && run.lanes[l][0] === run.lanes[l - 1][0]) continue;
      if (l * rowHeight >= below) {
        let text = run.nodes[run.lanes[l][0]];
        while (text.length > 3 && c.measureText(text).width > gutter() - 4) text = '…' + text.slice(2);
        c.fillText(text, 0, l * rowHeight + 10);
        below = l * rowHeight + 12;
      }
    }
  }
  // drawAxis writes times below the chart, at most one in 90 pixels.
  function drawAxis(v) {
    const [c, width, height] = size(v.axis), span = state.to - state.from, most = Math.max(2, (width - gutter()) / 90);
    const step = [1e3, 1e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8, 72e8, 216e8, 432e8, 864e8].find(s => span / s <= most) || Math.ceil(span / most / 864e8) * 864e8;
    c.fillStyle = css('faint');
    c.strokeStyle = css('guide');
    c.font = '11px sans-serif';
    for (let t = Math.ceil(state.from / step) * step; t <= state.to; t += step) {
      const at = x(t, width), text = clock(t, step);
      c.beginPath();
      c.moveTo(at, 0);
      c.lineTo(at, 4);
      c.stroke();
      if (at + c.measureText(text).width < width) c.fillText(text, at, height - 3);
    }
  }
  // clock writes a time from the start of the run.
  function clock(us, step) {
    const t = Math.round(us / 1e3) / 1e3;
    if (step < 1e6) return t.toFixed(3).replace(/0+$/, '').replace(/\.$/, '') + ' s';
    const two = n => String(Math.floor(n)).padStart(2, '0');
    if (t < 60 && step < 6e7) return Math.round(t) + ' s';
    return t < 3600 ? `${Math.floor(t / 60)}:${two(t % 60)}` : `${Math.floor(t / 3600)}:${two(t / 60 % 60)}:${two(t % 60)}`;
  }
  function outline(c, run, i, width, rowHeight) {
    const left = x(run.start[i], width);
    c.strokeRect(left, run.lane[i] * rowHeight, Math.max(2, x(run.start[i] + run.length[i], width) - left), Math.max(2, rowHeight));
  }

  const labels = 18; // pixels above the lines of a chart, for its labels
  function steps(c, width, height, times, values, most, colour) {
    c.strokeStyle = colour;
    c.beginPath();
    for (let i = 0; i < times.length; i++) {
      const y = height - 1 - values[i] / most * (height - labels - 2), left = x(times[i], width);
      const right = x(i + 1 < times.length ? times[i + 1] : state.to, width);
      if (right < 0 || left > width) continue;
      c.lineTo(left, y);
      c.lineTo(right, y);
    }
    c.stroke();
  }

  // running counts the maps and reduces that run in each of 2,000 steps.
  function running(run) {
    const n = 2000, sums = [new Float64Array(n + 1), new Float64Array(n + 1)], width = run.end / n;
    for (let i = 0; i < run.rows; i++) {
      if (run.kind[i] > 1) continue;
      const s = sums[run.kind[i]], from = run.start[i] / width, to = (run.start[i] + run.length[i]) / width;
      for (let k = Math.floor(from); k <= Math.min(n - 1, to); k++) s[k] += Math.min(k + 1, to) - Math.max(k, from);
    }
    let both = 1;
    for (let k = 0; k < n; k++) both = Math.max(both, sums[0][k] + sums[1][k]);
    return {sums, both, times: Array.from({length: n}, (_, k) => k * width), most: Math.max(1, ...sums[0], ...sums[1])};
  }
  function drawWaves(v) {
    const [c, width, height] = size(v.waves), others = views.length > 4 ? [] : views.filter(o => o !== v);
    const most = Math.max(v.counts.most, ...others.map(o => o.counts.most));
    for (const o of [...others, v]) {
      ['maps', 'reduces'].forEach((kind, k) => {
        c.setLineDash(k ? [5, 3] : []);
        steps(c, width, height, o.counts.times, o.counts.sums[k], most, css(o === v ? kind : 'other'));
      });
    }
    c.setLineDash([]);
    left(v, c, width, height, String(Math.round(most)));
    c.font = '12px sans-serif';
    const what = 'maps solid, reduces dashed' + (others.length ? '; grey: the other runs' : ''), range = `${seconds(state.from)} to ${seconds(state.to)}`;
    c.fillText(what, gutter() + 4, 12);
    const from = width - c.measureText(range).width - 8; // a narrow view has no room for both
    if (from > gutter() + 16 + c.measureText(what).width) c.fillText(range, from, 12);
  }
  // drawOverview shows the whole run, and which part of it the other views show.
  function drawOverview(v) {
    const [c, width, height] = size(v.overview), w = v.counts, g = gutter(), at = t => g + t / longest * (width - g);
    c.fillStyle = css('maps');
    w.times.forEach((t, k) => {
      const tall = (w.sums[0][k] + w.sums[1][k]) / w.both * (height - 2);
      c.fillRect(at(t), height - tall, Math.max(0.5, at(t + run1(w)) - at(t)), tall);
    });
    c.fillStyle = css('ground');
    c.globalAlpha = 0.7;
    c.fillRect(g, 0, at(state.from) - g, height);
    c.fillRect(at(state.to), 0, width - at(state.to), height);
    c.globalAlpha = 1;
    c.strokeStyle = css('faint');
    c.strokeRect(at(state.from) + 0.5, 0.5, Math.max(2, at(state.to) - at(state.from) - 1), height - 1);
  }
  const run1 = w => w.times[1] || 1;
  function drawDevices(v) {
    const [c, width, height] = size(v.devices), node = v.choice.value, styles = {cpu: 'maps', disk: 'spill', network: 'reduces'};
    c.font = '12px sans-serif';
    let label = gutter() + 4;
    for (const s of v.run.devices) {
      if (s.node !== node) continue;
      const kind = Object.keys(styles).find(k => s.device.startsWith(k));
      c.setLineDash(kind === 'network' || s.device === 'reduce-slots' ? [3, 2] : []);
      steps(c, width, height, s.times, s.busy, 100, css(styles[kind] || 'faint'));
      if (s.others) {
        c.setLineDash([1, 3]);
        steps(c, width, height, s.times, s.others, 100, css('mark'));
      }
      const text = s.device + (s.device === 'reduce-slots' ? ' (dashed)' : '') + (s.others ? ' (dotted: others)' : '');
      c.fillStyle = css(styles[kind] || 'faint');
      c.fillText(text, label, 12);
      label += c.measureText(text).width + 10;
    }
    c.setLineDash([]);
    left(v, c, width, height, '100 %');
  }
  function drawLedger(v) {
    const [c, width, height] = size(v.ledger), job = v.run.jobs[state.run === v.index && state.job >= 0 ? state.job : v.slowest];
    if (!job) return;
    c.font = '12px sans-serif';
    let right = -1;
    const colours = new Map([...accounts].map(([account, own]) => [account, css(own)]));
    job.steps.forEach((s, k) => {
      const a = x(s[0], width), b = x(s[1], width);
      c.fillStyle = colours.get(s[2]);
      c.fillRect(a, 18, Math.max(0.7, b - a - (b - a > 3 ? 1 : 0)), height - 20);
      if (b - a > 60 && a > right) {
        c.fillStyle = css('text');
        c.fillText(s[2], Math.max(gutter() + 2, a), 12);
        right = Math.max(gutter() + 2, a) + c.measureText(s[2]).width + 6;
      }
    });
    left(v, c, width, height);
    tellAccounts(v, job);
  }
  // tellAccounts lists the accounts of a job, the longest first.
  function tellAccounts(v, job) {
    if (v.told === job) return;
    v.told = job;
    const sums = new Map(), body = $('.accounts tbody', v.section), whole = Math.max(1, job.finish - job.submit);
    for (const s of job.steps) sums.set(s[2], (sums.get(s[2]) || 0) + s[1] - s[0]);
    body.replaceChildren();
    $('.ledgerof', v.section).textContent = `of job ${job.id}, ${seconds(whole)}`;
    for (const [account, time] of [...sums].sort((a, b) => b[1] - a[1])) {
      const row = body.insertRow(), bar = document.createElement('meter');
      row.insertCell().append(entry(accounts.get(account), account));
      row.insertCell().textContent = seconds(time);
      bar.max = whole;
      bar.value = time;
      row.insertCell().append(bar, ` ${(100 * time / whole).toFixed(1)} %`);
    }
  }

  // tellFlow draws the dataflow of the job that the ledger shows: vertices in columns
  // behind what they get their data from, each with its busy and idle time.
  function tellFlow(v) {
    const job = state.run === v.index && state.job >= 0 ? state.job : v.slowest, svg = $('.flow svg', v.section);
    const own = v.run.jobs[job], flow = v.run.sampled || own && own.flow;
    const wide = 122, high = 80, step = 212, down = 104, fit = svg.parentElement.clientWidth;
    if (v.flowOf === flow && v.flowFit === fit) return;
    [v.flowOf, v.flowFit] = [flow, fit];
    svg.replaceChildren();
    $('.flowof', v.section).textContent = !flow ? 'not known' : v.run.sampled ? 'from sampling records: busy solid, idle grey' : `of job ${own.id}: busy solid, waits of copiers grey`;
    svg.parentElement.hidden = !flow;
    if (!flow) return;
    const column = flow.vertices.map(() => 0), rows = [], row = [];
    for (let round = 0; round < flow.vertices.length; round++) { // as many rounds as the longest path
      for (const e of flow.edges) if (e.from !== e.to) column[e.to] = Math.min(flow.vertices.length, Math.max(column[e.to], column[e.from] + 1));
    }
    flow.vertices.forEach((_, i) => { row[i] = rows[column[i]] = rows[column[i]] === undefined ? 0 : rows[column[i]] + 1; });
    const put = (tag, to, attributes, text) => {
      const e = document.createElementNS(svg.namespaceURI, tag);
      for (const [k, value] of Object.entries(attributes)) e.setAttribute(k, value);
      if (text !== undefined) e.textContent = text;
      return to.appendChild(e);
    };
    const columns = Math.max(...column) + 1, lanes = Math.max(...row) + 1; // of a line: a graph that is too wide goes on below
    const each = Math.max(1, Math.min(columns, Math.floor((fit - wide - 4) / step) + 1)), lines = Math.ceil(columns / each);
    const left = i => column[i] % each * step + 2, top = i => (Math.floor(column[i] / each) * lanes + row[i]) * down + 1;
    const width = (each - 1) * step + wide + 4, height = lines * lanes * down;
    for (const [k, value] of Object.entries({viewBox: `0 0 ${width} ${height}`, width, height})) svg.setAttribute(k, value);
    const most = Math.max(1, ...flow.vertices.map(x => x.busy + x.idle)), words = [];
    for (const e of flow.edges) {
      const a = left(e.from) + wide, b = left(e.to), y = top(e.from) + high / 2, z = top(e.to) + high / 2;
      const text = e.text || (e.bytes ? amount(e.bytes, true) : '');
      if (b > a) {
        put('path', svg, {d: `M${a} ${y}L${b - 6} ${z}`});
        put('path', svg, {class: 'tip', d: `M${b} ${z}l-8 -4v8z`});
      } else { // on the next line
        put('path', svg, {d: `M${a - wide / 2} ${y + high / 2}V${top(e.to) - 12}H${b + wide / 2}v6`});
        put('path', svg, {class: 'tip', d: `M${b + wide / 2} ${top(e.to)}l-4 -8h8z`});
      }
      put('text', svg, b > a ? {class: 'small', x: (a + b) / 2, y: (y + z) / 2 - 5, 'text-anchor': 'middle'} : {class: 'small', x: b + wide / 2 + 8, y: top(e.to) - 1}, text);
      words.push(`${flow.vertices[e.from].name} to ${flow.vertices[e.to].name}${text ? ': ' + text : ''}`);
    }
    flow.vertices.forEach((x, i) => {
      const g = put('g', svg, {transform: `translate(${left(i)} ${top(i)})`}), bar = (wide - 16) / most;
      put('rect', g, {x: 0.5, y: 0.5, width: wide - 1, height: high - 1, rx: 4});
      put('text', g, {x: 8, y: 18}, x.name);
      if (!x.runs) return;
      put('rect', g, {class: 'busy', x: 8, y: 26, width: x.busy * bar, height: 9});
      put('rect', g, {class: 'idle', x: 8 + x.busy * bar, y: 26, width: x.idle * bar, height: 9});
      put('text', g, {class: 'small', x: 8, y: 50}, `busy ${seconds(x.busy)}`);
      put('text', g, {class: 'small', x: 8, y: 66}, (x.idle ? `idle ${(100 * x.idle / (x.busy + x.idle)).toFixed(0)} %, ` : '') + `${amount(x.runs)} ${x.runs === 1 ? 'task' : 'tasks'}`);
      words.push(`${x.name}: busy ${seconds(x.busy)}, idle ${seconds(x.idle)} in ${x.runs} tasks`);
    });
    svg.setAttribute('aria-label', words.join('; '));
  }

  // tellNodes lists the work of each node.
  function tellNodes(v) {
    const run = v.run, nodes = run.nodes.map(() => ({n: [0, 0], time: [0, 0], lost: 0})), body = $('.nodes tbody', v.section);
    for (let i = 0; i < run.rows; i++) {
      const n = nodes[run.lanes[run.lane[i]][0]], kind = run.kind[i];
      if (kind > 1) continue;
      if (run.state[i] !== 0) {
        n.lost++;
        continue;
      }
      n.n[kind]++;
      n.time[kind] += run.length[i];
    }
    const mean = (n, k) => n.n[k] ? seconds(n.time[k] / n.n[k]) : '';
    nodes.map((n, i) => [n, i]).sort((a, b) => b[0].time[0] / (b[0].n[0] || 1) - a[0].time[0] / (a[0].n[0] || 1)).slice(0, 200).forEach(([n, i]) => {
      const row = body.insertRow();
      [run.nodes[i], n.n[0], mean(n, 0), n.n[1], mean(n, 1), n.lost].forEach(t => { row.insertCell().textContent = t; });
      row.tabIndex = 0;
      row.addEventListener('click', () => {
        showDevices(v, run.nodes[i]);
        redraw();
      });
    });
  }

  // columns of the table of tasks: the value that sorts them, and what is written of the
  // value or the attempt.
  function taskColumns(run) {
    const bytes = v => amount(v, true), all = [
      ['task', i => key(run.job[i], run.kind[i], run.task[i]), (_, i) => name(run, i) + (run.number[i] ? ` (${run.number[i]})` : '')],
      ['node', i => run.lane[i], (_, i) => nodeOf(run, i)], ['state', i => run.state[i], v => run.states[v].toLowerCase()],
      ['start', i => run.start[i], seconds], ['time', i => run.length[i], seconds],
    ];
    run.phases.forEach((p, k) => { if (run.used[k]) all.push([p, i => run.phase[k][i], seconds]); });
    run.works.forEach((w, k) => { if (w.startsWith('bytes')) all.push([w, i => run.work[k][i], bytes]); });
    return all;
  }
  // tellTasks lists the attempts in the range of time that the filter leaves, the first
  // of an order, with the quantiles of all of them.
  function tellTasks(v) {
    const table = $('.tasks', v.section), shown = 50, run = v.run, kept = keep(v);
    if (!table.closest('details').open) return;
    const now = [state.from, state.to, v.keptFor, order.by, order.down, state.run === v.index && state.attempt].join();
    if (v.tasksFor === now) return;
    v.tasksFor = now;
    const columns = taskColumns(run), by = columns.find(c => c[0] === order.by) || columns[4], sign = order.down ? -1 : 1;
    const found = new Uint32Array(run.rows), first = []; // those that are shown, in order
    let n = 0;
    for (let i = 0; i < run.rows; i++) {
      if (kept && !kept[i] || run.start[i] > state.to || run.start[i] + run.length[i] < state.from) continue;
      found[n++] = i;
      const value = sign * by[1](i);
      if (first.length === shown && value >= first[shown - 1][0]) continue;
      let at = first.length;
      while (at > 0 && first[at - 1][0] > value) at--;
      first.splice(at, 0, [value, i]);
      if (first.length > shown) first.pop();
    }
    const head = $('thead', table), body = $('tbody', table), foot = $('tfoot', table);
    head.replaceChildren();
    body.replaceChildren();
    foot.replaceChildren();
    const titles = head.insertRow();
    for (const [title] of columns) {
      const th = document.createElement('th');
      th.textContent = title;
      th.tabIndex = 0;
      if (title === by[0]) th.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      th.addEventListener('click', () => {
        order.down = order.by === title ? !order.down : true;
        order.by = title;
        redraw();
      });
      titles.append(th);
    }
    const step = Math.max(1, Math.floor(n / 10000)), some = [];
    for (let k = 0; k < n; k += step) some.push(found[k]);
    const sorted = columns.map((column, k) => k < 4 ? null : Float64Array.from(some, column[1]).sort());
    for (const [title, part] of [['least', 0], ['quarter', 0.25], ['median', 0.5], ['three quarters', 0.75], ['most', 1]]) {
      const row = foot.insertRow();
      columns.forEach((column, k) => {
        row.insertCell().textContent = k === 0 ? title : k < 4 || !n ? '' : column[2](sorted[k][Math.round(part * (some.length - 1))]);
      });
    }
    for (const [, i] of first) {
      const row = body.insertRow();
      for (const column of columns) row.insertCell().textContent = column[2](column[1](i), i);
      row.tabIndex = 0;
      row.classList.toggle('on', state.run === v.index && state.attempt === i);
      row.addEventListener('click', () => choose({run: v.index, attempt: i, finding: -1}));
    }
    $('.counted', v.section).textContent = `${amount(n)} attempts` + (n > shown ? `, the first ${shown} shown` : '') + (step > 1 ? `; quantiles of every ${step}th` : '');
  }

  // tellOffers lists the decisions of the scheduler up to the start of the chosen
  // attempt, or else from the begin of the range of time.
  function tellOffers(v) {
    const run = v.run, body = $('.offers tbody', v.section), shown = 12;
    if (!body) return;
    const chosen = state.run === v.index ? state.attempt : -1, at = chosen >= 0 ? run.start[chosen] : state.from;
    if (v.offersAt === at) return;
    v.offersAt = at;
    let low = 0, high = run.offers.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (run.offers[middle][0] <= at) low = middle + 1;
      else high = middle;
    }
    const first = chosen >= 0 ? Math.max(0, low - shown) : low;
    body.replaceChildren();
    for (const o of run.offers.slice(first, first + shown)) {
      const row = body.insertRow();
      row.classList.toggle('on', chosen >= 0 && o[0] === at && o[1] === nodeOf(run, chosen));
      [seconds(o[0]), o[1], o[2], o[3], o[4]].forEach(t => { row.insertCell().textContent = t; });
    }
  }

  // tell writes about the chosen attempt: its phases beside those of the median
  // attempt of its job and kind.
  function tell(v) {
    const box = $('.chosen', v.section), run = v.run, i = state.run === v.index ? state.attempt : -1;
    box.replaceChildren();
    const put = (tag, text, to) => {
      const e = document.createElement(tag);
      e.textContent = text;
      return (to || box).appendChild(e);
    };
    const finding = state.run === v.index && run.findings[state.finding];
    if (finding) {
      put('p', [finding.cause, finding.node, finding.evidence].filter(t => t).join(': '));
      const list = put('p', finding.tasks && finding.tasks.length ? 'Tasks: ' : '');
      for (const task of (finding.tasks || []).slice(0, 12)) {
        put('button', task, list).addEventListener('click', () => choose({run: v.index, attempt: find2(run, task)}));
      }
    }
    if (i < 0) return;
    put('p', `${name(run, i)} attempt ${run.number[i]}, ${run.states[run.state[i]]}, on ${nodeOf(run, i)} slot ${run.lanes[run.lane[i]][1]}: ` +
      `${seconds(run.start[i])} to ${seconds(run.start[i] + run.length[i])}, ${seconds(run.length[i])}`);
    const usual = (run.jobs[run.job[i]] ? run.jobs[run.job[i]].usual : []).find(u => u.kind === run.kind[i]) || {count: 0, phases: []};
    const table = put('table', ''), head = put('tr', '', table), job = run.jobs[run.job[i]] || {lines: []};
    ['phase', 'this attempt', 'expected of its data', 'median of ' + usual.count, ...run.models.map(m => m.name), 'equation of the peers'].forEach(t => put('th', t, head));
    run.phases.forEach((p, k) => {
      const median = usual.phases[k] || 0, line = job.lines.find(l => l.kind === run.kind[i] && l.phase === k);
      if (!run.phase[k][i] && !median) return;
      const row = put('tr', '', table), cells = [p, seconds(run.phase[k][i]), '', seconds(median)];
      for (const m of run.models) cells.push(run.kind[i] < 2 && m.phases[run.kind[i]][k] >= 0 ? seconds(m.phases[run.kind[i]][k]) : '');
      const waits = p === 'shuffle' ? run.waits[i] : 0; // the equation of a shuffle is that of its work
      if (waits) cells[1] += `, ${seconds(run.phase[k][i] - waits)} without waits`;
      if (line) {
        const what = line.work < 0 ? '' : run.works[line.work], bytes = what.startsWith('bytes'), unit = bytes ? 2 ** 20 : 1000;
        const n = line.work < 0 ? 0 : run.work[line.work][i];
        cells[2] = seconds(Math.max(0, line.base + line.unit * n) * 1e6);
        cells.push(`${line.base.toFixed(2)} s` + (line.unit ? ` + ${amount(n, bytes)} × ${(line.unit * unit * 1000).toPrecision(3)} ms/${bytes ? 'MiB' : '1,000'} (${what})` : line.work < 0 ? '' : ' for any data'));
        if (run.phase[k][i] - waits > 1.2 * 1e6 * (line.base + line.unit * n) + 1e4) row.className = 'slow';
      }
      cells.forEach(t => put('td', t, row));
    });
  }

  // rebuilt replaces the content of an element. The focus stays at its place.
  function rebuilt(box, build) {
    const stops = () => $$('button,[tabindex]', box), at = stops().indexOf(document.activeElement);
    build();
    if (at >= 0) stops()[at]?.focus({preventScroll: true});
  }
  function draw() {
    scheduled = false;
    for (const v of views) {
      drawOverview(v);
      drawWaves(v);
      drawChart(v);
      drawAxis(v);
      drawLedger(v);
      tellColours(v);
      tellFlow(v);
      drawDevices(v);
      rebuilt($('.chosen', v.section), () => tell(v));
      tellOffers(v);
      rebuilt($('.tasks', v.section), () => tellTasks(v));
      drawTried(v);
      const here = state.run === v.index;
      for (const on of [v.jobOn, v.findingOn]) if (on) on.classList.remove('on');
      v.jobOn = here && v.jobRows.get(state.job);
      v.findingOn = here && v.findingRows.get(state.finding);
      for (const on of [v.jobOn, v.findingOn]) if (on) on.classList.add('on');
    }
    clearTimeout(address); // after the picture, since the browser takes its time
    address = setTimeout(() => {
      let h = `#run=${state.run}&attempt=${state.attempt}&job=${state.job}&finding=${state.finding}&from=${Math.round(state.from)}&to=${Math.round(state.to)}`;
      for (const [k, f] of Object.entries(filter)) if (f) h += `&${k}=${encodeURIComponent(f)}`;
      if (location.hash !== h) history.replaceState(null, '', h);
    });
  }
  function redraw() {
    if (!scheduled) {
      scheduled = true;
      requestAnimationFrame(draw);
    }
  }
  // choose shows what was chosen: an attempt that the range of time leaves out moves it.
  function choose(change) {
    Object.assign(state, change);
    if (!views.length) return;
    const v = views[state.run], run = v.run, i = change.attempt === undefined ? -1 : state.attempt;
    if (i >= 0) showDevices(v, nodeOf(run, i));
    if (i >= 0 && (run.start[i] > state.to || run.start[i] + run.length[i] < state.from)) {
      const span = state.to - state.from;
      state.from = Math.max(0, Math.min(longest - span, run.start[i] + run.length[i] / 2 - span / 2));
      state.to = state.from + span;
    }
    redraw();
  }
  function showDevices(v, node) { // that were recorded
    if (v.run.devices.some(d => d.node === node)) v.choice.value = node;
  }
  function zoom(factor, at) {
    const span = Math.min(longest, Math.max(1000, (state.to - state.from) * factor));
    const part = at === undefined ? 0.5 : at, fixed = state.from + part * (state.to - state.from);
    const from = Math.max(0, Math.min(longest - span, fixed - part * span));
    choose({from, to: from + span});
  }
  function readHash() {
    for (const k in filter) filter[k] = '';
    for (const [k, v] of new URLSearchParams(location.hash.slice(1))) {
      if (k in state && Number.isFinite(+v)) state[k] = +v;
      else if (k in filter) filter[k] = v;
    }
    for (const f of $$('.filter')) for (const e of f.elements) if (e.name in filter) e.type === 'checkbox' ? e.checked = !!filter[e.name] : e.value = filter[e.name];
    if (!views.length) return;
    const run = views[state.run] ? views[state.run].run : views[state.run = 0].run;
    if (!(state.attempt < run.rows)) state.attempt = -1;
    if (!(state.job < run.jobs.length)) state.job = -1;
    if (!(state.finding < run.findings.length)) state.finding = -1;
    if (!(state.to > state.from)) [state.from, state.to] = [0, longest];
    redraw();
  }
  // find returns the attempt under a point of the chart, or -1.
  function find(v, event) {
    const box = v.chart.getBoundingClientRect(), run = v.run;
    const lane = Math.floor((event.clientY - box.top) / box.height * run.lanes.length);
    const [, t] = moment(v.chart, event);
    for (let i = run.first[lane]; i < run.first[lane + 1]; i++) if (run.start[i] <= t && t <= run.start[i] + run.length[i]) return i;
    return -1;
  }
  function find2(run, attempt) { // by its name in a ledger; a task that failed has its last attempt
    const wanted = number(run, attempt);
    let lost = -1;
    for (let i = 0; i < run.rows; i++) {
      if (key(run.job[i], run.kind[i], run.task[i]) !== wanted) continue;
      if (run.state[i] === 0) return i;
      lost = i;
    }
    return lost;
  }
  // seek chooses the first of some texts that names a task, a job or a node, of which it
  // chooses the first attempt.
  function seek(v, texts) {
    const run = v.run;
    for (const text of texts) {
      const job = run.jobs.findIndex(j => j.id === text), lane = run.lanes.findIndex(l => run.nodes[l[0]] === text), attempt = lane >= 0 ? run.first[lane] : find2(run, text);
      if (job < 0 && attempt < 0) continue;
      choose({run: v.index, attempt, job: job < 0 ? run.job[attempt] : job, finding: -1});
      return true;
    }
    return false;
  }
  function outlier(run) { // the attempt that takes the most times as long as the mean of its job and kind
    const sums = new Float64Array(8 * run.jobs.length), counts = sums.slice(), key = i => run.job[i] * 8 + run.kind[i];
    for (let i = 0; i < run.rows; i++) {
      sums[key(i)] += run.length[i];
      counts[key(i)]++;
    }
    let best = -1, most = 0;
    for (let i = 0; i < run.rows; i++) {
      const k = key(i), ratio = run.length[i] * counts[k] / sums[k];
      if (run.kind[i] > 1 || counts[k] < 3 || !(ratio > most)) continue;
      most = ratio;
      best = i;
    }
    return best;
  }

  function listen(v) {
    const run = v.run, chooseRow = (row, k) => row.addEventListener('click', k);
    let dragged = null, moved = false;
    v.chart.addEventListener('wheel', e => {
      e.preventDefault();
      zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, moment(v.chart, e)[0]));
    }, {passive: false});
    v.chart.addEventListener('pointerdown', e => { dragged = [e.clientX, state.from]; moved = false; });
    window.addEventListener('pointermove', e => {
      if (!dragged) return;
      const span = state.to - state.from, shift = (dragged[0] - e.clientX) / (v.chart.clientWidth - gutter()) * span;
      moved = moved || Math.abs(e.clientX - dragged[0]) > 3;
      const from = Math.max(0, Math.min(longest - span, dragged[1] + shift));
      if (moved) choose({from, to: from + span});
    });
    window.addEventListener('pointerup', () => { dragged = null; });
    v.chart.addEventListener('mousemove', e => {
      const i = find(v, e);
      v.chart.title = i < 0 ? '' : `${name(run, i)} on ${nodeOf(run, i)}, ${seconds(run.length[i])}`;
    });
    v.chart.addEventListener('click', e => {
      if (moved) return;
      const i = find(v, e);
      choose({run: v.index, attempt: i, job: i < 0 ? -1 : run.job[i], finding: -1});
    });
    v.ledger.addEventListener('click', e => {
      const job = state.run === v.index && state.job >= 0 ? state.job : v.slowest, [, t] = moment(v.ledger, e);
      const step = run.jobs[job] && run.jobs[job].steps.find(s => s[0] <= t && t < s[1]);
      if (!step) return;
      choose({run: v.index, job, finding: -1, attempt: find2(run, step[3])});
      $('#status').textContent = `${step[2]}, ${seconds(step[0])} to ${seconds(step[1])} ${step[3]} ${step[4]} ${step[5]}`;
    });
    for (const r of $$('.evidence tbody tr', v.section)) { // its task, else its node or its job
      const texts = [...r.cells].map(c => c.textContent), rank = t => number(run, t) >= 0 ? 0 : run.nodes.includes(t) ? 1 : 2;
      if (!texts.some(t => rank(t) < 2)) continue;
      r.tabIndex = 0;
      chooseRow(r, () => seek(v, texts.sort((a, b) => rank(a) - rank(b))));
    }
    $$('tr[data-finding]', v.section).forEach(r => chooseRow(r, () => pickFinding(v, +r.dataset.finding)));
    $$('tr[data-job]', v.section).forEach(r => chooseRow(r, () => choose({run: v.index, job: state.job === +r.dataset.job ? -1 : +r.dataset.job, attempt: -1, finding: -1})));
    $$('.jobs th[tabindex]', v.section).forEach((th, k) => th.addEventListener('click', () => {
      const body = $('.jobs tbody', v.section), value = r => r.cells[k].dataset.value;
      const up = th.getAttribute('aria-sort') !== 'ascending';
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      [...body.rows].sort((a, b) => (value(a) === undefined ? a.cells[k].textContent.localeCompare(b.cells[k].textContent, 'en') : value(a) - value(b)) * (up ? 1 : -1))
        .forEach(r => body.append(r));
    }));
    v.choice.addEventListener('change', redraw);
    let brushed = -1; // where a range of the overview begins
    const under = e => {
      const box = v.overview.getBoundingClientRect();
      return Math.max(0, Math.min(1, (e.clientX - box.left - gutter()) / (box.width - gutter()))) * longest;
    };
    v.overview.addEventListener('pointerdown', e => { brushed = under(e); });
    window.addEventListener('pointermove', e => {
      const to = brushed < 0 ? 0 : under(e);
      if (brushed >= 0 && Math.abs(to - brushed) > longest / 1e4) choose({from: Math.min(brushed, to), to: Math.max(brushed, to)});
    });
    window.addEventListener('pointerup', () => { brushed = -1; });
    v.overview.addEventListener('dblclick', () => choose({from: 0, to: longest}));
    $('.tasks', v.section).closest('details').addEventListener('toggle', redraw);
    const form = $('.filter', v.section);
    form.addEventListener('submit', e => e.preventDefault());
    form.addEventListener('input', () => {
      for (const e of form.elements) if (e.name in filter) filter[e.name] = e.type === 'checkbox' ? (e.checked ? '1' : '') : e.value.trim();
      for (const f of $$('.filter')) {
        for (const e of f.elements) if (f !== form && e.name in filter) e.type === 'checkbox' ? e.checked = !!filter[e.name] : e.value = filter[e.name];
      }
      redraw();
    });
    for (const [name, list] of [['kind', run.kinds], ['state', run.states]]) {
      for (const text of list) {
        const o = document.createElement('option');
        o.value = o.textContent = text;
        form.elements[name].append(o);
      }
    }
  }
  // ---- changes that are simulated ----
  // ask sends a request to the simulator, which starts with the first. One is under way
  // at a time.
  let worker = null, asked = Promise.resolve(), simulated = null; // simulated: the view whose question is setting A
  const textOf = id => $(id).textContent;
  function ask(message) {
    return asked = asked.catch(() => {}).then(() => new Promise((resolve, reject) => {
      worker.onmessage = ({data}) => data.error ? reject(new Error(data.error)) : resolve(data);
      worker.onerror = e => reject(new Error('the worker has stopped: ' + e.message));
      worker.postMessage({id: 1, ...message});
    }));
  }
  // tryChange simulates the run without and with the change of a finding.
  async function tryChange(v, f) {
    const box = $('.tried', v.section), heading = $('h3', box), list = $('ul', box);
    box.hidden = false;
    heading.textContent = `${f.change}: simulating`;
    try {
      if (!worker) {
        const script = new TextDecoder().decode(Uint8Array.from(atob(textOf('#worker')), c => c.charCodeAt(0)));
        worker = new Worker(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})));
        await ask({program: textOf('#program')});
      }
      if (simulated !== v) v.without = await ask({request: {verb: 'run', side: 0, question: v.run.question}});
      simulated = v;
      const changed = await ask({request: {verb: 'run', side: 1, question: f.question}}), {answer} = await ask({request: {verb: 'differ'}});
      heading.textContent = `A: the scenario. B: ${f.change}`;
      list.replaceChildren(...answer.Sentences.map(text => Object.assign(document.createElement('li'), {textContent: text})));
      const [where, a, b] = answer.Offer, details = $('details', box);
      details.hidden = !where;
      $('summary', details).textContent = where;
      $('pre', details).textContent = `A:\n${a}\nB:\n${b}`;
      v.tried = [v.without, changed];
      drawTried(v);
    } catch (e) {
      heading.textContent = `${f.change}: ${e.message}`;
      list.replaceChildren();
    }
    box.scrollIntoView({block: 'nearest'});
  }
  // entry is a text of a legend with its colour, on one line.
  function entry(colour, text) {
    const swatch = document.createElement('span'), both = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.background = `var(--${colour})`;
    both.className = 'entry';
    both.append(swatch, text);
    return both;
  }

  // The stages of a simulated run, with their colours.
  const stages = [['maps', 'map'], ['reduces: start-up, shuffle', 'shuffle'], ['reduces: merge to commit', 'reduce'], ['set-up, clean-up', 'other']];
  function drawTried(v) {
    if (!v.tried) return;
    const box = $('.tried', v.section), legend = $('.stages', box);
    legend.replaceChildren('Slots in use:');
    for (const [text, colour] of stages) legend.append(entry(colour, text), ' ');
    const uses = v.tried.map(({answer, data}) => new Float32Array(data, data.byteLength - 4 * answer.Rows - 16 * answer.Bins, 4 * answer.Bins));
    const span = Math.max(...v.tried.map(r => r.answer.Makespan)), sum = (use, b, bins) => use[b] + use[bins + b] + use[2 * bins + b] + use[3 * bins + b];
    const most = Math.max(1, ...uses.flatMap((use, k) => [...Array(v.tried[k].answer.Bins).keys()].map(b => sum(use, b, v.tried[k].answer.Bins))));
    $$('canvas', box).forEach((canvas, k) => {
      canvas.style.height = canvas.getAttribute('height') + 'px';
      const [c, width, height] = size(canvas), {Bins, Makespan} = v.tried[k].answer, step = width * Makespan / span / Bins;
      for (let b = 0; b < Bins; b++) {
        let y = height;
        stages.forEach(([, colour], s) => {
          const h = uses[k][s * Bins + b] / most * (height - 2);
          c.fillStyle = css(colour);
          c.fillRect(b * step, y - h, step + 0.5, h);
          y -= h;
        });
      }
    });
  }
  function offerTrials(v) {
    for (const [k, row] of v.findingRows) {
      const f = v.run.findings[k];
      if (!f.question) continue;
      const button = document.createElement('button');
      button.textContent = 'try it';
      button.addEventListener('click', e => {
        e.stopPropagation();
        tryChange(v, f);
      });
      row.cells[6].append(' ', button);
    }
  }

  function pickFinding(v, k) {
    const f = v.run.findings[k];
    if (!f) return;
    const folded = v.findingRows.get(k) && v.findingRows.get(k).closest('details');
    if (folded) folded.open = true;
    choose({run: v.index, finding: k, attempt: f.tasks && f.tasks.length ? find2(v.run, f.tasks[0]) : -1, job: v.run.jobs.findIndex(j => j.id === f.job)});
    showDevices(v, f.node);
  }
  function search(text) {
    if (text) $('#status').textContent = views.some(v => seek(v, [text])) ? '' : 'nothing found';
  }

  document.addEventListener('keydown', e => {
    if (['INPUT', 'SELECT'].includes(e.target.tagName) && e.key !== 'Escape' && e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.altKey) return;
    const v = views[state.run], run = v && v.run;
    if (!v) return;
    const keys = {
      '+': () => zoom(0.5), '-': () => zoom(2), '0': () => choose({from: 0, to: longest}),
      n: () => pickFinding(v, (state.finding + 1) % Math.max(1, run.findings.length)),
      N: () => pickFinding(v, (state.finding + run.findings.length - 1) % Math.max(1, run.findings.length)),
      o: () => { const i = outlier(run); if (i >= 0) choose({attempt: i, job: run.job[i], finding: -1}); },
      ArrowRight: () => { if (state.attempt + 1 < run.rows) choose({attempt: state.attempt + 1, job: run.job[state.attempt + 1]}); },
      ArrowLeft: () => { if (state.attempt > 0) choose({attempt: state.attempt - 1, job: run.job[state.attempt - 1]}); },
      j: () => $('.jobs tbody tr', v.section)?.focus(), l: () => v.ledger.scrollIntoView(),
      '/': () => $('#search').focus(), '?': () => $('#help').showModal(),
      d: () => {
        const dark = getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)';
        document.documentElement.className = dark ? 'dark' : 'light';
        redraw();
      },
      Escape: () => { $('#search').blur(); choose({attempt: -1, job: -1, finding: -1}); },
      Enter: () => { if (e.target.id === 'search') search(e.target.value.trim()); else if (e.target.matches('tr,th')) e.target.click(); },
    };
    if (keys[e.key]) {
      if (e.key !== 'Enter' || e.target.id === 'search') e.preventDefault();
      keys[e.key]();
    }
  });

  for (const section of $$('.run')) {
    const run = await unpack($('.data', section).textContent), index = views.length;
    const v = {
      section, run, index, all: document.createElement('canvas'), own: document.createElement('canvas'), counts: running(run), chart: $('.chart', section), axis: $('.axis', section), overview: $('.overview', section), waves: $('.waves', section),
      ledger: $('.ledger', section), devices: $('.devices', section), choice: $('.device', section),
      slowest: run.jobs.reduce((best, j, i) => j.finish - j.submit > run.jobs[best].finish - run.jobs[best].submit ? i : best, 0),
    };
    $('.data', section).remove();
    v.jobRows = new Map($$('tr[data-job]', section).map(r => [+r.dataset.job, r]));
    v.findingRows = new Map($$('tr[data-finding]', section).map(r => [+r.dataset.finding, r]));
    offerTrials(v);
    if (run.left) $('.verdict', section).append(` The chart leaves out ${run.left === 1 ? 'one attempt' : run.left + ' attempts, the shortest or without times'}.`);
    if (!run.devices.length) v.devices.hidden = v.choice.parentElement.hidden = true;
    for (const node of [...new Set(run.devices.map(d => d.node))]) {
      const o = document.createElement('option');
      o.value = node;
      o.textContent = node === '*' ? 'whole cluster' : node;
      v.choice.append(o);
    }
    v.chart.style.height = Math.min(600, Math.max(120, run.lanes.length * 6)) + 'px';
    for (const c of [v.waves, v.ledger, v.devices, v.axis, v.overview]) c.style.height = c.getAttribute('height') + 'px';
    const phaseOf = {'start-up': 'startup', 'sort and spill': 'spill', 'map and reduce': 'map'};
    for (const s of run.jobs.flatMap(j => j.steps)) {
      if (accounts.has(s[2])) continue;
      const n = accounts.size, phase = phaseOf[s[2]] ?? s[2], own = run.phases.includes(phase) ? phase : 'account' + n;
      if (own !== phase) document.documentElement.style.setProperty('--' + own, `hsl(${Math.round(n * 137.5) % 360} 55% ${40 + n % 3 * 15}%)`);
      accounts.set(s[2], own);
    }
    tellNodes(v);
    longest = Math.max(longest, run.end);
    views.push(v);
    listen(v);
  }
  [state.from, state.to] = [0, longest];
  readHash();
  window.addEventListener('hashchange', readHash);
  window.addEventListener('resize', redraw);
  const root = document.documentElement;
  let worn = ''; // the class of the page on the screen
  window.addEventListener('beforeprint', () => { // in the colours of paper
    [worn, root.className] = [root.className, 'light'];
    draw();
  });
  window.addEventListener('afterprint', () => {
    root.className = worn;
    redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  draw();
  document.documentElement.dataset.ready = 'true';
})();
