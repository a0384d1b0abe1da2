// What the console adds for browsers with scripts: live parts, keys, boxes. Every page works without it.
"use strict";
(() => {
  const root = document.documentElement, body = document.body;
  root.classList.add("has-script");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // What is looked at is seen in a row that is scrolled to the side.
  for (const one of all("nav [aria-current]")) {
    const row = one.closest("nav");
    row.scrollLeft = Math.max(0, one.offsetLeft - row.offsetLeft - (row.clientWidth - one.offsetWidth) / 2);
  }

  // Live parts. The stream says that something changed; then the page is asked for anew, and parts that differ are put in.
  const topics = (body.dataset.topics || "").split(",").filter(Boolean);
  const SHORTEST = 2000, LONGEST = 30000;
  const control = document.getElementById("live-switch");
  let stream = null, asked = 0, timer = 0, isAsking = false, fresh = null;
  let isLive = sessionStorage.getItem("headwater-live") !== "off";

  const isInUse = (part) =>
    part.matches(":hover") || part.contains(document.activeElement) && document.activeElement !== part ||
    part.querySelector("input:checked, details[open], tr.current") !== null;

  const put = (force) => {
    if (!fresh) return;
    let held = 0;
    for (const part of all(".live[id]")) {
      const next = fresh.getElementById(part.id);
      if (!next || next.isEqualNode(part)) continue;
      if (!force && isInUse(part)) { held += 1; continue; }
      const scrolled = part.scrollLeft;
      const made = document.importNode(next, true);
      part.replaceWith(made);
      made.scrollLeft = scrolled;
    }
    more(held);
  };

  const more = (held) => {
    let pill = document.getElementById("more-news");
    if (!held) { if (pill) pill.remove(); return; }
    if (pill) return;
    pill = document.createElement("button");
    pill.id = "more-news";
    pill.type = "button";
    pill.textContent = "There is news: show it";
    pill.addEventListener("click", () => put(true));
    body.append(pill);
  };

  const ask = () => {
    clearTimeout(timer);
    if (isAsking || document.hidden || !isLive) return;
    const wait = asked + SHORTEST - Date.now();
    if (wait > 0) { timer = setTimeout(ask, wait); return; }
    isAsking = true;
    asked = Date.now();
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.timeout = 15000;
    request.onloadend = () => {
      isAsking = false;
      // A login that has ended answers with another page.
      if (request.status === 200 && request.response && request.responseURL === location.href.split("#")[0]) {
        fresh = request.response;
        put(false);
      }
      timer = setTimeout(ask, LONGEST);
    };
    request.send();
  };

  const open = () => {
    if (stream || document.hidden || !isLive || !topics.length) return;
    stream = new EventSource(`/api/v1/stream?topics=${encodeURIComponent(topics.join(","))}`);
    let isFirst = new Set(topics);
    // How things stand is told at once: the page knows that already.
    for (const topic of topics) stream.addEventListener(topic, () => { if (!isFirst.delete(topic)) ask(); });
    timer = setTimeout(ask, LONGEST);
  };
  const close = () => { if (stream) stream.close(); stream = null; clearTimeout(timer); };
  const show = () => {
    control.setAttribute("aria-pressed", String(isLive));
    control.querySelector(".word").textContent = isLive ? "Live" : "Still";
  };
  if (control && topics.length) {
    control.hidden = false;
    show();
    control.addEventListener("click", () => {
      isLive = !isLive;
      sessionStorage.setItem("headwater-live", isLive ? "on" : "off");
      show();
      if (isLive) { open(); ask(); } else close();
    });
    document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else { open(); ask(); } });
    addEventListener("pagehide", close);
    document.addEventListener("pointerout", () => { if (fresh) put(false); });
    open();
  }

  // Boxes of rows: one for all of the page, and how many are chosen.
  const count = (form) => {
    const chosen = all("input[name=chosen]:checked", form).length;
    for (const told of all("output.chosen", form)) told.textContent = `${chosen} chosen`;
  };
  document.addEventListener("change", (event) => {
    const box = event.target, form = box.form || box.closest("form");
    if (!form) return;
    if (box.classList.contains("choose-all")) for (const one of all("input[name=chosen]", form)) one.checked = box.checked;
    if (box.type === "checkbox") count(form);
  });

  // A file is read into the field that takes its text.
  for (const field of all("textarea[data-takes-file]")) {
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.accept = field.dataset.takesFile;
    chooser.setAttribute("aria-label", "Read a file into this field");
    chooser.addEventListener("change", async () => { if (chooser.files[0]) field.value = await chooser.files[0].text(); });
    field.after(chooser);
  }

  // A form is sent once.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const form of all("form[data-sent]")) delete form.dataset.sent; });

  // Keys, outside of fields.
  let before = "";
  const rows = () => all("main tbody tr");
  const go = (step) => {
    const listed = rows(), at = listed.findIndex((row) => row.classList.contains("current"));
    const next = listed[Math.max(0, Math.min(listed.length - 1, at + step))];
    if (!next) return;
    for (const row of listed) row.classList.toggle("current", row === next);
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), select, textarea, dialog[open]")) return;
    const key = before ? `${before} ${event.key}` : event.key;
    before = event.key === "g" ? "g" : "";
    const current = document.querySelector("tr.current");
    const wanted = all("[data-key]").find((one) => one.dataset.key === key);
    if (wanted) { event.preventDefault(); wanted.click(); }
    else if (key === "?") document.getElementById("keys")?.showModal();
    else if (key === "/") { const field = document.querySelector("main [role=search] input:not([type=hidden])"); if (field) { event.preventDefault(); field.focus(); } }
    else if (key === "j") go(1);
    else if (key === "k") go(-1);
    else if (key === "x" && current) current.querySelector("input[name=chosen]")?.click();
    else if (key === "Enter" && current && target === body) current.querySelector(".main a")?.click();
  });
})();
