/* Evidence, timeline and log are one selection: choosing a piece of evidence anywhere shows it everywhere. */
(() => {
  'use strict';
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  let wrapped = true;
  let wanted = '';

  const rows = () => all('a.ev[data-ev]');
  const row = (id) => rows().find((candidate) => candidate.dataset.ev === id);

  function choose(id, from) {
    const chosen = row(id);
    if (!chosen) return;
    for (const other of rows()) {
      if (other === chosen) other.setAttribute('aria-current', 'true'); else other.removeAttribute('aria-current');
    }
    const folded = chosen.closest('details');
    if (folded) folded.open = true;
    if (from !== 'list') chosen.scrollIntoView({ block: 'nearest' });
    showLine(chosen.dataset.stream, chosen.dataset.line, id, chosen.href);
    document.dispatchEvent(new CustomEvent('evidence', { detail: { id, from: 'choose' } }));
    window.firstFault.say(`${id}: ${chosen.querySelector('.w').textContent}`);
  }

  /* the log: scroll when the line is there already, else ask for it */
  function showLine(stream, line, id, href) {
    const panel = document.getElementById('log');
    if (!panel) return;
    wanted = id;
    if (panel.dataset.stream === stream && document.getElementById(`L${line}`)) { mark(line); return; }
    window.htmx.ajax('GET', href.split('#')[0], { target: '#log', swap: 'outerHTML' }).then(() => mark(line));
  }
  function mark(line) {
    const item = document.getElementById(`L${line}`);
    for (const other of all('.log li.on')) other.classList.remove('on');
    if (!item) return;
    item.classList.add('on');
    const pane = item.closest('.log');
    pane.scrollTop += item.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 4;
  }

  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest('[data-ev]');
    if (link && row(link.dataset.ev)) {
      event.preventDefault();
      choose(link.dataset.ev, link.matches('a.ev') ? 'list' : 'reference');
      return;
    }
    if (event.target.closest('[data-next-evidence]')) {
      const list = all('.chain > li > a.ev');
      const here = list.findIndex((candidate) => candidate.closest('li').querySelector('[aria-current=true]'));
      const next = list[(here + 1) % list.length];
      if (next) choose(next.dataset.ev, 'key');
      return;
    }
    const wrap = event.target.closest('[data-wrap]');
    if (wrap) { wrapped = !wrapped; showWrap(); }
  });
  function showWrap() {
    for (const pane of all('.log')) pane.classList.toggle('wrap', wrapped);
    for (const button of all('[data-wrap]')) button.setAttribute('aria-pressed', String(wrapped));
  }
  document.addEventListener('evidence', (event) => { if (event.detail.from === 'timeline') choose(event.detail.id, 'timeline'); });

  function start() {
    showWrap();
    const first = rows()[0];
    const asked = location.hash.slice(1);
    if (first && !rows().some((candidate) => candidate.getAttribute('aria-current') === 'true')) {
      if (asked && row(asked)) choose(asked, 'address');
      else {
        first.setAttribute('aria-current', 'true');
        document.dispatchEvent(new CustomEvent('evidence', { detail: { id: first.dataset.ev, from: 'choose' } }));
      }
    }
    const on = document.querySelector('.log li.on');
    if (on && !wanted) mark(on.id.slice(1));
    const heading = document.querySelector('#investigation > [data-say]') && document.getElementById('ans');
    if (heading && document.activeElement === document.body) heading.focus({ preventScroll: true });
  }
  document.addEventListener('htmx:load', start);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start); else start();
})();
