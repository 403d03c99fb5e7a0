'use strict';
// Each section shows one run. All sections share the range of time, the chosen
// attempt, job and finding. Names are only ever set as text.
(async () => {
  const $ = (s, of) => (of || document).querySelector(s);
  const $$ = (s, of) => [...(of || document).querySelectorAll(s)];
  const css = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const views = [];
  const state = {run: 0, attempt: -1, job: -1, finding: -1, from: 0, to: 0};
  let longest = 1, scheduled = false;

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
  const x = (us, width) => (us - state.from) / (state.to - state.from) * width;

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

  // paint draws the attempts of all jobs, or of one job, and returns those that
  // did not succeed. Each lane has its own line; a gap of a pixel keeps attempts apart. An attempt
  // shorter than a pixel has the colour of its longest phase. Pixels are set one
  // by one, which a million attempts take less time for than rectangles.
  function paint(v, canvas, job) {
    const run = v.run, wide = canvas.width = v.chart.width, high = canvas.height = v.chart.height, c = canvas.getContext('2d');
    const image = c.createImageData(Math.max(1, wide), Math.max(1, high)), points = new Uint32Array(image.data.buffer), scale = wide / (state.to - state.from);
    const colours = [...run.phases.map(p => pixel(css(p))), pixel(css('other'))];
    const marks = [], step = high / Math.max(1, run.lanes.length), all = run.phases.length, used = [];
    run.phases.forEach((_, p) => { if (run.used[p]) used.push(p); });
    for (let lane = 0; lane < run.lanes.length; lane++) {
      const top = Math.floor(lane * step), bottom = Math.max(top + 1, Math.floor((lane + 1) * step) - (step > 3 ? 1 : 0));
      const fill = (a, b, colour) => { for (let y = top; y < bottom; y++) points.fill(colour, y * wide + a, y * wide + b); };
      let drawn = -1;
      for (let i = run.first[lane]; i < run.first[lane + 1]; i++) {
        if (job >= 0 && run.job[i] !== job) continue;
        const from = run.start[i], to = from + run.length[i];
        if (to < state.from) continue;
        if (from > state.to) break;
        const left = Math.max(0, Math.floor((from - state.from) * scale)), right = Math.min(wide, Math.max(left + 1, Math.floor((to - state.from) * scale)));
        if (right <= drawn) continue;
        drawn = right;
        const gap = right - left > 3 ? 1 : 0;
        if (right - left < 2) {
          let most = 0, longest = all;
          for (const p of used) if (run.phase[p][i] > most) [most, longest] = [run.phase[p][i], p];
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
          if (right - gap > painted) fill(painted, right - gap, colours[all]);
        }
        if (run.state[i] !== 0) marks.push(i, lane);
      }
    }
    c.putImageData(image, 0, 0);
    return marks;
  }
  // drawChart paints all attempts again only if the range of time, the size or the
  // colours have changed. Those of other jobs are faint if a job is chosen.
  function drawChart(v) {
    const [c, width, height] = size(v.chart), run = v.run, rowHeight = height / Math.max(1, run.lanes.length);
    const chosenJob = state.run === v.index && run.jobs.length > 1 ? state.job : -1;
    const finding = state.run === v.index && state.finding >= 0 ? run.findings[state.finding] : null;
    const painted = [state.from, state.to, v.chart.width, v.chart.height, css('ground')].join();
    if (v.painted !== painted) {
      v.marks = paint(v, v.all, -1);
      v.painted = painted;
    }
    c.globalAlpha = chosenJob >= 0 ? 0.15 : 1;
    c.drawImage(v.all, 0, 0, width, height);
    c.globalAlpha = 1;
    if (chosenJob >= 0) {
      if (v.paintedOwn !== painted + chosenJob) paint(v, v.own, chosenJob);
      v.paintedOwn = painted + chosenJob;
      c.drawImage(v.own, 0, 0, width, height);
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
    return {sums, times: Array.from({length: n}, (_, k) => k * width), most: Math.max(1, ...sums[0], ...sums[1])};
  }
  function drawWaves(v) {
    const [c, width, height] = size(v.waves), w = v.counts;
    steps(c, width, height, w.times, w.sums[0], w.most, css('maps'));
    c.setLineDash([5, 3]);
    steps(c, width, height, w.times, w.sums[1], w.most, css('reduces'));
    c.setLineDash([]);
    c.fillStyle = css('faint');
    c.font = '12px sans-serif';
    c.fillText(`most: ${Math.round(w.most)}; maps solid, reduces dashed`, 4, 12);
    c.fillText(`${seconds(state.from)} to ${seconds(state.to)}`, Math.max(4, width - 160), 12);
  }
  function drawDevices(v) {
    const [c, width, height] = size(v.devices), node = v.choice.value, styles = {cpu: 'maps', disk: 'spill', network: 'reduces'};
    c.font = '12px sans-serif';
    let label = 4;
    for (const s of v.run.devices) {
      if (s.node !== node) continue;
      const kind = Object.keys(styles).find(k => s.device.startsWith(k));
      c.setLineDash(kind === 'network' ? [3, 2] : []);
      steps(c, width, height, s.times, s.busy, 100, css(styles[kind] || 'other'));
      if (s.others) {
        c.setLineDash([1, 3]);
        steps(c, width, height, s.times, s.others, 100, css('mark'));
      }
      const text = s.device + (s.others ? ' (dotted: others)' : '');
      c.fillStyle = css(styles[kind] || 'other');
      c.fillText(text, label, 12);
      label += c.measureText(text).width + 10;
    }
    c.setLineDash([]);
  }
  function drawLedger(v) {
    const [c, width, height] = size(v.ledger), job = v.run.jobs[state.run === v.index && state.job >= 0 ? state.job : v.slowest];
    if (!job) return;
    c.font = '12px sans-serif';
    let right = -1;
    job.steps.forEach((s, k) => {
      const a = x(s[0], width), b = x(s[1], width);
      c.fillStyle = v.accounts.get(s[2]);
      c.fillRect(a, 18, Math.max(0.7, b - a - (b - a > 3 ? 1 : 0)), height - 20);
      if (b - a > 60 && a > right) {
        c.fillStyle = css('text');
        c.fillText(s[2], Math.max(2, a), 12);
        right = Math.max(2, a) + c.measureText(s[2]).width + 6;
      }
    });
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
      const row = body.insertRow(), swatch = document.createElement('span'), bar = document.createElement('meter');
      swatch.className = 'swatch';
      swatch.style.background = v.accounts.get(account);
      row.insertCell().append(swatch, account);
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
        if (run.devices.some(d => d.node === run.nodes[i])) v.choice.value = run.nodes[i];
        redraw();
      });
    });
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
    if (i < 0) return;
    const put = (tag, text, to) => {
      const e = document.createElement(tag);
      e.textContent = text;
      return (to || box).appendChild(e);
    };
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

  function draw() {
    scheduled = false;
    for (const v of views) {
      drawWaves(v);
      drawChart(v);
      drawLedger(v);
      tellFlow(v);
      drawDevices(v);
      tell(v);
      tellOffers(v);
      const here = state.run === v.index;
      for (const on of [v.jobOn, v.findingOn]) if (on) on.classList.remove('on');
      v.jobOn = here && v.jobRows.get(state.job);
      v.findingOn = here && v.findingRows.get(state.finding);
      for (const on of [v.jobOn, v.findingOn]) if (on) on.classList.add('on');
    }
    const h = `#run=${state.run}&attempt=${state.attempt}&job=${state.job}&finding=${state.finding}&from=${Math.round(state.from)}&to=${Math.round(state.to)}`;
    if (location.hash !== h) history.replaceState(null, '', h);
  }
  function redraw() {
    if (!scheduled) {
      scheduled = true;
      requestAnimationFrame(draw);
    }
  }
  function choose(change) {
    Object.assign(state, change);
    redraw();
  }
  function zoom(factor, at) {
    const span = Math.min(longest, Math.max(1000, (state.to - state.from) * factor));
    const part = at === undefined ? 0.5 : at, fixed = state.from + part * (state.to - state.from);
    const from = Math.max(0, Math.min(longest - span, fixed - part * span));
    choose({from, to: from + span});
  }
  function readHash() {
    for (const [k, v] of new URLSearchParams(location.hash.slice(1))) if (k in state && Number.isFinite(+v)) state[k] = +v;
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
    const t = state.from + (event.clientX - box.left) / box.width * (state.to - state.from);
    for (let i = run.first[lane]; i < run.first[lane + 1]; i++) if (run.start[i] <= t && t <= run.start[i] + run.length[i]) return i;
    return -1;
  }
  function find2(run, attempt) { // by its name in a ledger
    const wanted = number(run, attempt);
    for (let i = 0; i < run.rows; i++) if (key(run.job[i], run.kind[i], run.task[i]) === wanted && run.state[i] === 0) return i;
    return -1;
  }
  function outlier(run) { // the attempt that takes the most times as long as the mean of its job and kind
    const sums = new Map();
    const key = i => run.job[i] * 8 + run.kind[i];
    for (let i = 0; i < run.rows; i++) {
      const s = sums.get(key(i)) || [0, 0];
      sums.set(key(i), [s[0] + run.length[i], s[1] + 1]);
    }
    let best = -1, most = 0;
    for (let i = 0; i < run.rows; i++) {
      const s = sums.get(key(i)), ratio = run.length[i] / (s[0] / s[1]);
      if (run.kind[i] < 2 && s[1] > 2 && ratio > most) [best, most] = [i, ratio];
    }
    return best;
  }

  function listen(v) {
    const run = v.run, chooseRow = (row, k) => row.addEventListener('click', k);
    let dragged = null, moved = false;
    v.chart.addEventListener('wheel', e => {
      e.preventDefault();
      const box = v.chart.getBoundingClientRect();
      zoom(e.deltaY > 0 ? 1.25 : 0.8, (e.clientX - box.left) / box.width);
    }, {passive: false});
    v.chart.addEventListener('pointerdown', e => { dragged = [e.clientX, state.from]; moved = false; });
    window.addEventListener('pointermove', e => {
      if (!dragged) return;
      const span = state.to - state.from, shift = (dragged[0] - e.clientX) / v.chart.clientWidth * span;
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
      if (i >= 0) v.choice.value = nodeOf(run, i);
    });
    v.ledger.addEventListener('click', e => {
      const box = v.ledger.getBoundingClientRect(), job = state.run === v.index && state.job >= 0 ? state.job : v.slowest;
      const t = state.from + (e.clientX - box.left) / box.width * (state.to - state.from);
      const step = run.jobs[job] && run.jobs[job].steps.find(s => s[0] <= t && t < s[1]);
      if (!step) return;
      choose({run: v.index, job, finding: -1, attempt: find2(run, step[3])});
      $('#status').textContent = `${step[2]}, ${seconds(step[0])} to ${seconds(step[1])} ${step[3]} ${step[4]} ${step[5]}`;
    });
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
  }
  function pickFinding(v, k) {
    const f = v.run.findings[k];
    if (!f) return;
    const folded = v.findingRows.get(k) && v.findingRows.get(k).closest('details');
    if (folded) folded.open = true;
    if (f.node && v.run.devices.some(d => d.node === f.node)) v.choice.value = f.node;
    choose({run: v.index, finding: k, attempt: f.tasks && f.tasks.length ? find2(v.run, f.tasks[0]) : -1, job: v.run.jobs.findIndex(j => j.id === f.job)});
  }
  function search(text) {
    if (!text) return;
    for (const v of views) {
      for (let i = 0; i < v.run.rows; i++) {
        if (name(v.run, i) === text || nodeOf(v.run, i) === text) {
          choose({run: v.index, attempt: i, job: v.run.job[i], finding: -1});
          return;
        }
      }
    }
    $('#status').textContent = 'nothing found';
  }

  document.addEventListener('keydown', e => {
    if (e.target.tagName === 'INPUT' && e.key !== 'Escape' && e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.altKey) return;
    const v = views[state.run], run = v.run;
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
      section, run, index, all: document.createElement('canvas'), own: document.createElement('canvas'), counts: running(run), chart: $('.chart', section), waves: $('.waves', section),
      ledger: $('.ledger', section), devices: $('.devices', section), choice: $('.device', section),
      slowest: run.jobs.reduce((best, j, i) => j.finish - j.submit > run.jobs[best].finish - run.jobs[best].submit ? i : best, 0),
    };
    $('.data', section).remove();
    v.jobRows = new Map($$('tr[data-job]', section).map(r => [+r.dataset.job, r]));
    v.findingRows = new Map($$('tr[data-finding]', section).map(r => [+r.dataset.finding, r]));
    if (run.left) $('.verdict', section).append(` The chart leaves out ${run.left === 1 ? 'one attempt' : run.left + ' attempts, the shortest or without times'}.`);
    if (!run.devices.length) v.devices.hidden = v.choice.parentElement.hidden = true;
    for (const node of [...new Set(run.devices.map(d => d.node))]) {
      const o = document.createElement('option');
      o.value = node;
      o.textContent = node === '*' ? 'whole cluster' : node;
      v.choice.append(o);
    }
    v.chart.style.height = Math.min(600, Math.max(120, run.lanes.length * 6)) + 'px';
    for (const c of [v.waves, v.ledger, v.devices]) c.style.height = c.getAttribute('height') + 'px';
    run.phases.forEach((p, k) => {
      if (!run.used[k]) return;
      const swatch = document.createElement('span'), label = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.background = `var(--${p})`;
      label.textContent = p;
      $('.legend', section).append(swatch, label);
    });
    v.accounts = new Map();
    for (const j of run.jobs) {
      for (const s of j.steps) if (!v.accounts.has(s[2])) v.accounts.set(s[2], `hsl(${Math.round(v.accounts.size * 137.5) % 360} 55% 55%)`);
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
  window.addEventListener('beforeprint', draw); // in the colours of paper
  window.addEventListener('afterprint', redraw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  draw();
  document.documentElement.dataset.ready = 'true';
})();
