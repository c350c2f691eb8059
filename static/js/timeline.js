/* Draws the figure that the server computed, and asks for another window when one zooms, pans or unfolds. */
(() => {
  'use strict';
  const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, showSendToCloud: false, plotlyServerURL: '', doubleClick: false, scrollZoom: false };
  const VARIABLE = /^var\(--([\w-]+)\)$/;
  let frame = null;
  let view = null;
  let figure = null;
  let chosen = '';
  let asked = 0;

  /* colours: the browser resolves light-dark() on an element, not inside a custom property */
  const probe = document.createElement('i');
  probe.className = 'vh';
  probe.setAttribute('aria-hidden', 'true');
  const colours = new Map();
  const colour = (name) => {
    if (!colours.has(name)) {
      probe.style.color = `var(--${name})`;
      colours.set(name, getComputedStyle(probe).color);
    }
    return colours.get(name);
  };
  const coloured = (value) => {
    if (typeof value === 'string') { const found = VARIABLE.exec(value); return found ? colour(found[1]) : value; }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, coloured(inner)]));
    return value;
  };

  const plot = () => frame.querySelector('.tl-plot');

  function draw() {
    const place = plot();
    if (!window.Plotly) {
      place.classList.add('none');
      place.textContent = 'The chart could not be loaded. The table under it holds the same.';
      frame.querySelector('.figcap details').open = true;
      return;
    }
    if (!probe.isConnected) document.body.append(probe);
    colours.clear();
    const drawn = coloured(figure);
    drawn.layout.font.family = getComputedStyle(document.body).fontFamily;
    drawn.layout.hoverlabel.font.family = drawn.layout.font.family;
    drawn.layout.width = place.clientWidth;
    ring(drawn.data);
    window.Plotly.react(place, drawn.data, drawn.layout, CONFIG).then(() => bind(place));
  }

  /* the last trace is the ring round the chosen evidence */
  function ring(data) {
    const last = data[data.length - 1];
    last.x = [];
    last.y = [];
    if (!chosen) return;
    for (const trace of data.slice(0, -1)) {
      if (trace.name === 'First fault') continue;
      (trace.customdata || []).forEach((ids, number) => {
        if (ids.includes(chosen)) { last.x.push(trace.x[number]); last.y.push(trace.y[number]); }
      });
    }
  }

  function bind(place) {
    if (place.dataset.bound) return;
    place.dataset.bound = '1';
    place.on('plotly_click', (event) => {
      const ids = event.points[0].customdata;
      if (ids?.length) document.dispatchEvent(new CustomEvent('evidence', { detail: { id: ids[0], from: 'timeline' } }));
    });
    place.on('plotly_relayout', (event) => {
      const start = event['xaxis.range[0]'];
      const end = event['xaxis.range[1]'];
      if (start !== undefined && end !== undefined) go({ start: Number(start), end: Number(end) });
    });
  }

  function read() {
    const state = document.getElementById('tl-state').dataset;
    figure = JSON.parse(document.getElementById('tl-figure').textContent);
    view = { ...view, span: state.span, clock: state.clock, start: Number(state.start), end: Number(state.end), length: Number(state.length) };
    document.getElementById('tl-window').textContent = state.window;
    document.getElementById('tl-since').value = state.since;
    document.getElementById('tl-until').value = state.until;
    for (const button of frame.querySelectorAll('[data-span]')) {
      const whole = view.start === 0 && Math.abs(view.end - view.length) < 1e-6;
      button.setAttribute('aria-pressed', String(button.dataset.span === view.span && whole));
    }
    for (const button of frame.querySelectorAll('[data-clock]')) button.setAttribute('aria-pressed', String(button.dataset.clock === view.clock));
  }

  async function go(change) {
    Object.assign(view, change);
    const query = new URLSearchParams({ span: view.span, clock: view.clock, width: plot().clientWidth, toggled: [...view.toggled].join(',') });
    if (change.since) { query.set('since', change.since); query.set('until', change.until); delete view.since; delete view.until; }
    else if (view.start !== null && view.end !== null) { query.set('start', view.start); query.set('end', view.end); }
    const number = ++asked;
    const answer = await fetch(`${frame.dataset.url}?${query}`, { headers: { 'X-Requested-With': 'timeline' } });
    if (number !== asked) return;
    if (!answer.ok) { window.firstFault.say('The timeline could not be loaded. Load the page again.'); return; }
    const focused = document.activeElement?.dataset?.toggle;
    const template = document.createElement('template');
    template.innerHTML = await answer.text();
    const body = document.getElementById('tl-body');
    const kept = plot();
    const fresh = template.content.querySelector('.tl-plot');
    fresh.replaceWith(kept);
    body.replaceChildren(template.content);
    read();
    draw();
    if (focused) [...frame.querySelectorAll('[data-toggle]')].find((b) => b.dataset.toggle === focused)?.focus();
    window.firstFault.say(document.getElementById('tl-state').dataset.window);
  }

  function zoom(kind) {
    const { start, end } = view;
    const length = end - start;
    const fault = figure.data.find((trace) => trace.name === 'First fault' || trace.name === 'Candidates')?.x[0];
    const middle = kind === 'in' && fault > start && fault < end ? fault + length * 0.1 : (start + end) / 2;
    if (kind === 'in') go({ start: middle - length / 4, end: middle + length / 4 });
    else if (kind === 'out') go({ start: start - length / 2, end: end + length / 2 });
    else { const by = (kind === 'left' ? -1 : 1) * length / 3; go({ start: start + by, end: end + by }); }
  }

  function start() {
    frame = document.getElementById('timeline');
    if (!frame || frame.dataset.ready) return;
    frame.dataset.ready = '1';
    view = { toggled: new Set() };
    read();
    frame.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      const { span, zoom: kind, clock, toggle } = button.dataset;
      if (span) go({ span, start: null, end: null });
      else if (kind) zoom(kind);
      else if (clock) go({ clock: clock === 'corrected' && view.clock === 'corrected' ? 'logged' : clock });
      else if (toggle) {
        if (!view.toggled.delete(toggle)) view.toggled.add(toggle);
        go({});
      }
    });
    frame.querySelector('[data-window]').addEventListener('submit', (event) => {
      event.preventDefault();
      const { since, until } = Object.fromEntries(new FormData(event.target));
      go({ since: since.trim(), until: until.trim() });
    });
    /* labels are placed for a width: the page comes with a usual one, others ask for their own */
    const width = plot().clientWidth;
    if (Math.abs(width - Number(document.getElementById('tl-state').dataset.width)) > 60) go({ start: null, end: null }); else draw();
    let seen = width;
    let waiting = 0;
    new ResizeObserver(() => {
      const now = plot().clientWidth;
      if (Math.abs(now - seen) < 24) return;
      seen = now;
      clearTimeout(waiting);
      waiting = setTimeout(() => go({}), 120);
    }).observe(plot());
  }

  document.addEventListener('theme', () => { if (frame?.isConnected) draw(); });
  document.addEventListener('evidence', (event) => {
    chosen = event.detail.id;
    if (frame?.isConnected && figure) draw();
  });
  document.addEventListener('htmx:load', start);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start); else start();
})();
