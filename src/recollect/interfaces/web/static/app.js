// Keyboard shortcuts, notices and live updates. Every page reads, and every form works, without this file.
"use strict";
(() => {
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isTyping = (element) => element.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
  let afterG = false;

  // what a notice said is not said again when the page is loaded again
  function cleanAddress() {
    const address = new URL(location.href);
    if (address.searchParams.has("notice")) {
      address.searchParams.delete("notice");
      history.replaceState(history.state, "", address);
    }
  }

  function entries() {
    return all("[data-entry]");
  }

  function move(step) {
    const list = entries();
    if (!list.length) return;
    const now = list.findIndex((entry) => entry.classList.contains("current"));
    const next = list[Math.min(Math.max(now + step, 0), list.length - 1)];
    list.forEach((entry) => entry.classList.toggle("current", entry === next));
    next.scrollIntoView({ block: "nearest" });
    (find("[data-main]", next) || find("a, button", next) || next).focus({ preventScroll: true });
  }

  function press(key) {
    const current = find("[data-entry].current");
    const target = (current && find(`[data-key="${key}"]`, current)) || find(`main [data-key="${key}"]`) || find(`#notices [data-key="${key}"]`);
    if (!target) return false;
    if (target.tagName === "SUMMARY") {
      const details = target.parentElement;
      details.open = true;
      (find("textarea, input:not([type=hidden]), button", details.querySelector("form") || details) || target).focus();
    } else {
      target.focus();
      target.click();
    }
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches?.("textarea")) {
      event.preventDefault();
      event.target.form?.requestSubmit(find("button.primary", event.target.form));
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      const details = document.activeElement?.closest("details[open].popup");
      if (details) {
        details.open = false;
        find("summary", details).focus();
      } else if (isTyping(document.activeElement)) document.activeElement.blur();
      return;
    }
    if (isTyping(event.target) || find("dialog[open]")) return;
    const key = event.key;
    if (afterG) {
      afterG = false;
      const link = find(`nav a[data-key="${CSS.escape(key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (key === "g") { afterG = true; setTimeout(() => { afterG = false; }, 1500); return; }
    if (key === "?") { event.preventDefault(); find("#help").showModal(); return; }
    if (key === "j" || key === "k") { event.preventDefault(); move(key === "j" ? 1 : -1); return; }
    if (key === "/") {
      const box = find("#search");
      event.preventDefault();
      if (box) { box.focus(); box.select(); } else find('nav a[data-key="m"]')?.click();
      return;
    }
    if (key === "x") {
      const box = find("[data-entry].current [data-selected]");
      if (box) { event.preventDefault(); box.click(); }
      return;
    }
    if (key.length === 1 && press(key)) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) { find(`#${opener.dataset.open}`).showModal(); return; }
    const closer = event.target.closest("[data-dismiss]");
    if (closer) { closer.closest(".notice").remove(); return; }
    const popup = event.target.closest("details.popup");
    if (!popup) all("details.popup[open]").forEach((details) => { details.open = false; });
    if (event.target.closest("summary")?.parentElement === popup && popup) {
      event.preventDefault();  // open it here: the browser would do so after the next keys, which would act as shortcuts
      popup.open = !popup.open;
      if (popup.open) find("textarea, input:not([type=hidden]), select, button", find("form", popup) || popup)?.focus();
    }
  });

  // after a search the keys are shortcuts again: j goes to the first hit
  document.addEventListener("submit", (event) => { if (event.target.matches("[role=search]")) document.activeElement?.blur(); }, true);

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
    if (event.target.matches("[data-select-all]")) {
      all("[data-selected]").forEach((box) => { box.checked = event.target.checked; });
    }
    if (event.target.matches("[data-selected], [data-select-all]")) showSelected();
  });

  // what can be done to several memories is shown once there are some
  function showSelected() {
    const bar = find("#bulk-form");
    if (!bar) return;
    const count = all("[data-selected]:checked").length;
    bar.hidden = !count;
    find("[data-count]", bar).textContent = count;
  }

  // Live: the parts of the page that are marked follow what agents do, unless the person is writing or an answer is on its way.
  let stream = null;
  let seen = document.body.dataset.seq;
  let isWaiting = false;
  function isBusy() {
    return isTyping(document.activeElement) || find("details.popup[open], dialog[open], [data-selected]:checked, .htmx-request");
  }
  function refresh() {
    if (!find("[data-live]") || isBusy()) { isWaiting = true; return; }
    isWaiting = false;
    const place = document.activeElement?.id;
    const headers = { "Recollect-Refresh": String(acts) };
    htmx.ajax("GET", location.pathname + location.search, { target: "[data-live]", select: "[data-live]", swap: "outerHTML", headers })
      .then(() => { if (place) document.getElementById(place)?.focus({ preventScroll: true }); });
  }
  // A refresh that was asked for before the person did something shows what was there before: ask again.
  let acts = 0;
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.headers["Recollect-Refresh"] === undefined) acts += 1;
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const asked = event.detail.requestConfig.headers["Recollect-Refresh"];
    if (asked === undefined || asked === String(acts)) return;
    event.detail.shouldSwap = false;
    setTimeout(refresh, 0);
  });
  function announce(replaced) {
    const notice = find("#replaced").content.firstElementChild.cloneNode(true);
    find("[data-old]", notice).textContent = replaced.old;
    find("[data-new]", notice).textContent = replaced.new;
    find("[data-new]", notice).href = `/memories/${encodeURIComponent(replaced.id)}`;
    find("#notices").append(notice);
  }
  let failures = 0;  // to reach the server, one after the other: the first may be a restart
  function showOffline(isOffline) {
    const shown = find("#notices .offline");
    if (isOffline && !shown) find("#notices").append(find("#offline").content.firstElementChild.cloneNode(true));
    if (!isOffline && shown) { shown.remove(); refresh(); }
  }
  function follow() {
    if (document.hidden) { stream?.close(); stream = null; return; }  // a browser has six connections for all its tabs
    if (stream) return;
    stream = new EventSource(`/events?since=${encodeURIComponent(seen)}`);
    stream.addEventListener("change", (event) => {
      const { seq, replaced = [] } = JSON.parse(event.data);
      seen = String(seq);
      replaced.forEach(announce);
      refresh();
    });
    stream.addEventListener("open", () => { failures = 0; showOffline(false); });
    stream.addEventListener("error", () => {
      if (stream?.readyState === EventSource.CLOSED) stream = null;
      else if (++failures > 1) showOffline(true);
    });
  }
  document.addEventListener("focusout", () => setTimeout(() => { if (isWaiting) refresh(); }, 50));
  document.addEventListener("visibilitychange", () => { follow(); if (!document.hidden) refresh(); });
  addEventListener("pagehide", () => { stream?.close(); stream = null; });

  // on a phone the menu is one line, of which the current page is to be seen
  function showPlace() {
    const link = find("nav a[aria-current]"), menu = link?.closest("nav");
    if (menu && menu.scrollWidth > menu.clientWidth) menu.scrollLeft = link.offsetLeft - (menu.clientWidth - link.offsetWidth) / 2;
  }

  document.addEventListener("htmx:afterSettle", () => { cleanAddress(); showPlace(); showSelected(); if (isWaiting) refresh(); });
  cleanAddress();
  showSelected();
  showPlace();
  follow();
})();
