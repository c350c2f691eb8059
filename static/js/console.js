/* What every page does: colour mode, keys, dialogs, menus, the live region, polling, and rows by keyboard. */
(() => {
  'use strict';
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* not kept then */ } };

  const region = document.getElementById('say');
  let speaking = 0;
  const say = (text) => {
    if (!text) return;
    region.textContent = '';
    clearTimeout(speaking);
    speaking = setTimeout(() => { region.textContent = text; }, 60);
  };
  window.firstFault = { say };

  /* colour mode */
  const dark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
  const recolour = () => document.dispatchEvent(new CustomEvent('theme'));
  for (const button of all('[data-theme-switch]')) {
    button.addEventListener('click', () => {
      root.dataset.theme = dark() ? 'light' : 'dark';
      keep('first-fault.theme', root.dataset.theme);
      say(dark() ? 'Dark' : 'Light');
      recolour();
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);

  /* dialogs; a link that opens one keeps its address for when scripts are off */
  const openDialog = (id, opener) => {
    const dialog = document.getElementById(id);
    if (!dialog) return false;
    if (id === 'keys') listKeys(dialog);
    dialog.addEventListener('close', () => opener?.focus({ preventScroll: true }), { once: true });
    dialog.showModal();
    const fields = 'input:not([type=hidden]), select, textarea';
    (dialog.querySelector('[autofocus]') ?? dialog.querySelector(fields))?.focus();
    return true;
  };
  document.addEventListener('click', (event) => {
    const opener = event.target.closest('[data-open]');
    if (opener && !event.ctrlKey && !event.metaKey && openDialog(opener.dataset.open, opener)) event.preventDefault();
    const closer = event.target.closest('[data-close]');
    if (closer) closer.closest('dialog').close();
    const copier = event.target.closest('[data-copy]');
    if (copier) copy(copier.dataset.copy);
    for (const menu of all('details[data-menu][open]')) if (!menu.contains(event.target)) menu.open = false;
  });
  const copy = async (path) => {
    const address = new URL(path, location.href).href;
    try { await navigator.clipboard.writeText(address); say('Link copied'); } catch { say(`Link: ${address}`); }
  };

  /* a key presses what is on the page; fields are entered, buttons pressed */
  const visible = (element) => element.getClientRects().length > 0 && !element.closest('dialog');
  const keyed = () => all('[data-key]').filter(visible);
  const keysOn = () => !root.classList.contains('kbd-off');
  function listKeys(dialog) {
    const list = dialog.querySelector('.keys');
    const seen = new Set();
    list.replaceChildren();
    for (const element of keyed()) {
      if (seen.has(element.dataset.key)) continue;
      seen.add(element.dataset.key);
      const item = document.createElement('li');
      const key = document.createElement('kbd');
      key.textContent = element.dataset.key;
      item.append(key, element.dataset.does || element.textContent.trim());
      list.append(item);
    }
  }
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      for (const menu of all('details[data-menu][open]')) { menu.open = false; menu.querySelector('summary').focus(); }
      if (event.target.matches?.('input[data-key], textarea[data-key]')) event.target.blur();
      return;
    }
    if (!keysOn() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest('input, textarea, select, dialog[open], [contenteditable]')) return;
    const element = keyed().find((candidate) => candidate.dataset.key === event.key);
    if (!element) return;
    event.preventDefault();
    if (element.matches('input, textarea')) { element.focus(); element.select(); } else element.click();
  });
  const showKeys = () => {
    for (const button of all('[data-keys-switch]')) {
      button.setAttribute('aria-pressed', String(keysOn()));
      button.querySelector('[data-keys-state]').textContent = keysOn() ? 'on' : 'off';
    }
  };
  for (const button of all('[data-keys-switch]')) {
    button.addEventListener('click', () => {
      root.classList.toggle('kbd-off');
      keep('first-fault.keys', keysOn() ? 'on' : 'off');
      showKeys();
      say(`Single-key shortcuts ${keysOn() ? 'on' : 'off'}`);
    });
  }
  showKeys();

  /* rows of the queue by keyboard */
  document.addEventListener('click', (event) => {
    const mover = event.target.closest('[data-row]');
    if (!mover || mover.matches('a')) return;
    const links = all('#rows .what a');
    const here = links.findIndex((link) => link.closest('tr').contains(document.activeElement));
    if (mover.dataset.row === 'open') { if (here >= 0) links[here].click(); return; }
    const next = links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + Number(mover.dataset.row)))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  });
  /* pressing a key must not take the focus away from the row: the buttons are pressed without being focused */

  /* a live part asks again while it is seen and not paused */
  let paused = false;
  const polls = new Map();
  const watch = (element) => {
    if (polls.has(element)) return;
    polls.set(element, setInterval(() => {
      if (!element.isConnected) { clearInterval(polls.get(element)); polls.delete(element); return; }
      if (!document.hidden && !paused) window.htmx.trigger(element, 'poll');
    }, Number(element.dataset.poll)));
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-poll-pause]');
    if (!button) return;
    paused = !paused;
    showPause();
    say(paused ? 'Paused' : 'Watching again');
  });
  const showPause = () => {
    for (const button of all('[data-poll-pause]')) button.setAttribute('aria-pressed', String(paused));
  };

  /* after a swap: speak what changed, go on polling, keep the focus somewhere named */
  const arrived = (within) => {
    for (const element of all('[data-poll]', within)) watch(element);
    if (within.matches?.('[data-poll]')) watch(within);
    showPause();
    const told = within.querySelector?.('[data-say]');
    if (told) say(told.textContent);
  };
  let focused = '';
  document.addEventListener('htmx:beforeSwap', (event) => {
    const { status } = event.detail.xhr;
    if (status === 422 || status === 409) { event.detail.shouldSwap = true; event.detail.isError = false; }
    focused = document.activeElement?.id || '';
  });
  document.addEventListener('htmx:load', (event) => arrived(event.detail.elt));
  document.addEventListener('htmx:afterSettle', () => {
    if (document.activeElement === document.body && focused) document.getElementById(focused)?.focus({ preventScroll: true });
  });
  for (const kind of ['htmx:responseError', 'htmx:sendError']) {
    document.addEventListener(kind, () => say('That did not work. Load the page again.'));
  }
  const first = () => {
    arrived(document.body);
    const told = all('[data-message]').map((message) => message.textContent.trim()).join(' ');
    if (told) say(told);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', first); else first();
})();
