/* Runs before the first paint: the colour mode that a person chose on this machine, else the system's. */
(() => {
  'use strict';
  try {
    const chosen = localStorage.getItem('first-fault.theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
    if (localStorage.getItem('first-fault.keys') === 'off') document.documentElement.classList.add('kbd-off');
  } catch { /* no storage in a private window: follow the system */ }
})();
