/* The page comes complete; this adds what only a script can do: sorting, search, saving, colours and pictures. */
(function () {
  "use strict";
  var root = document.documentElement;
  var all = function (selector, within) { return Array.from((within || document).querySelectorAll(selector)); };
  var say = function (text) { document.getElementById("said").textContent = text; };
  var read = function (element) { return JSON.parse(element.textContent); };

  /* Saving and copying ------------------------------------------------------------------------------------------- */

  function save(name, type, text) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: type + ";charset=utf-8" }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    say("Saved as " + name + ".");
  }

  function copyByHand(text) {
    var field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("aria-hidden", "true");
    field.style.position = "fixed";
    document.body.append(field);
    field.select();
    var done = false;
    try { done = document.execCommand("copy"); } catch (error) { done = false; }
    field.remove();
    return done;
  }

  function copy(text, button) {
    var told = function (done) {
      var before = button.dataset.label || button.textContent;
      button.dataset.label = before;
      button.textContent = done ? "Copied" : "Not allowed here";
      say(done ? "Copied." : "The browser does not allow copying from this page.");
      setTimeout(function () { button.textContent = before; }, 1600);
    };
    if (navigator.clipboard && navigator.clipboard.writeText) {
      navigator.clipboard.writeText(text).then(function () { told(true); }, function () { told(copyByHand(text)); });
    } else {
      told(copyByHand(text));
    }
  }

  all("[data-copy]").forEach(function (button) {
    button.addEventListener("click", function () { copy(document.getElementById(button.dataset.copy).textContent, button); });
  });

  /* What a column means: shown at its heading, for mouse, keyboard and touch ------------------------------------------ */

  var bubble = document.getElementById("meaning");

  function explain(button, text) {
    if (!text) { return; }
    bubble.textContent = text;
    bubble.hidden = false;
    var at = button.getBoundingClientRect(), width = bubble.offsetWidth, height = bubble.offsetHeight;
    bubble.style.left = Math.max(8, Math.min(at.left, root.clientWidth - width - 8)) + "px";
    bubble.style.top = (at.top - height - 8 > 0 ? at.top - height - 8 : at.bottom + 8) + "px";
  }

  function hush() { bubble.hidden = true; }

  document.addEventListener("keydown", function (event) { if (event.key === "Escape") { hush(); } });
  window.addEventListener("scroll", hush, { passive: true, capture: true });

  /* Tables ----------------------------------------------------------------------------------------------------------- */

  function sortable(grid) {
    var heads = all("thead th", grid), body = grid.querySelector("tbody");
    var first = Array.from(body.rows);
    heads.forEach(function (head, k) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.setAttribute("aria-describedby", "meaning");
      head.textContent = "";
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () {
        var falling = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        var place = new Map(first.map(function (row) { return [row, Number(row.cells[k].dataset.k)]; }));
        var rows = first.slice().sort(function (a, b) {
          var x = place.get(a), y = place.get(b);
          if (x < 0 || y < 0) { return (x < 0) - (y < 0); } /* what is missing stays at the end */
          return falling ? y - x : x - y;
        });
        body.append.apply(body, rows);
        say("Sorted by " + button.textContent + (falling ? ", largest first." : ", smallest first."));
      });
      ["mouseenter", "focus"].forEach(function (name) {
        button.addEventListener(name, function () { explain(button, head.dataset.meaning); });
      });
      ["mouseleave", "blur"].forEach(function (name) { button.addEventListener(name, hush); });
    });
  }

  function searchable(grid) {
    var field = grid.querySelector("input[type=search]");
    if (!field) { return; }
    var rows = all("tbody tr", grid), count = grid.querySelector(".count"), things = grid.dataset.things;
    var texts = new Map(rows.map(function (row) { return [row, row.textContent.toLocaleLowerCase()]; }));
    field.addEventListener("input", function () {
      var wanted = field.value.trim().toLocaleLowerCase(), shown = 0;
      rows.forEach(function (row) {
        row.hidden = texts.get(row).indexOf(wanted) < 0;
        shown += !row.hidden;
      });
      var total = rows.length.toLocaleString("en");
      count.textContent = wanted ? shown.toLocaleString("en") + " of " + total + " " + things : total + " " + things;
    });
  }

  function saveable(grid) {
    var held = grid.querySelector(":scope > script");
    all("[data-csv]", grid).forEach(function (button) {
      button.addEventListener("click", function () {
        if (button.dataset.csv === "copy") { copy(read(held), button); } else { save(grid.id + ".csv", "text/csv", read(held)); }
      });
    });
  }

  /* A phone shows the columns that fit, and the others when asked for. */
  function widenable(grid) {
    var button = grid.querySelector(".columns");
    if (!button) { return; }
    button.addEventListener("click", function () {
      button.setAttribute("aria-pressed", String(grid.classList.toggle("whole")));
    });
  }

  all(".grid").forEach(function (grid) { sortable(grid); searchable(grid); saveable(grid); widenable(grid); });

  /* Pictures: drawn when they come into view, the others when there is time ------------------------------------------- */

  var themes = read(document.getElementById("themes"));
  var prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  var views = new Map();

  function themeName() { return root.dataset.theme || (prefersDark.matches ? "dark" : "light"); }

  /* On a narrow screen every view is as wide as the screen, and panels are below each other. */
  var NARROW = 600, AXIS = 64;

  function narrow() { return root.clientWidth < NARROW; }

  function fitted(spec, figure, room) {
    if (!narrow()) { return spec; }
    slim(spec);
    (spec.params || []).forEach(function (one) { if (one.name === "narrow") { one.value = true; } });
    if (spec.hconcat) {
      var panels = figure.dataset.narrow === "first" ? spec.hconcat.slice(0, 1) : spec.hconcat;
      delete spec.hconcat;
      if (panels.length === 1) {
        Object.keys(panels[0]).forEach(function (key) { spec[key] = panels[0][key]; });
        delete spec.spacing; delete spec.resolve;
      } else {
        spec.vconcat = panels.map(function (panel) { panel.width = room - AXIS; return panel; });
        return spec;
      }
    }
    if (typeof spec.width === "number" && typeof spec.height === "number" && spec.height <= spec.width) {
      spec.height = Math.round(spec.height * Math.min(1, room / spec.width));
    }
    if (spec.width && spec.width.step) { (spec.layer || [spec]).forEach(sparse); }
    spec.width = room;
    spec.autosize = { type: "fit-x", contains: "padding" };
    return spec;
  }

  function themed(theme, room) {
    if (!narrow()) { return themes[theme]; }
    var config = JSON.parse(JSON.stringify(themes[theme]));
    config.axis.titleLimit = 0.45 * room;
    Object.assign(config.legend, { gradientLength: room / 3, titleLimit: 0.45 * room, columns: 2 });
    return config;
  }

  /* Names keep their two ends and take at most half of the screen; a slope has them on its left side only. */
  function slim(view) {
    ["layer", "hconcat", "vconcat"].forEach(function (key) { (view[key] || []).forEach(slim); });
    var shown = view.encoding || {}, axis = shown.y && shown.y.axis, label = "datum.label";
    if (axis && axis.labelExpr) {
      axis.labelExpr = "length(" + label + ") > 22 ? slice(" + label + ", 0, 9) + '…' + slice(" + label + ", -12) : " + label;
    }
    if (!shown.text) { return; }
    if (shown.text.field === "right_label") { shown.text.field = "after"; }
    if (shown.text.field === "label" || shown.text.field === "left") { view.mark.limit = 110; }
  }

  function sparse(view) {
    var axis = view.encoding && view.encoding.x && view.encoding.x.axis;
    if (axis) { axis.labelOverlap = true; axis.labelLimit = 90; }
  }

  function draw(figure) {
    var theme = themeName(), held = views.get(figure), small = narrow() ? root.clientWidth : 0;
    if (held && held.theme === theme && held.small === small) { return held.done; }
    var canvas = figure.querySelector(".canvas");
    var kept = held && held.view ? chosen(held.view) : {};
    var entry = { theme: theme, small: small, view: null, done: null };
    views.set(figure, entry);
    if (held && held.view) { held.view.finalize(); }
    var room = (canvas.clientWidth || root.clientWidth - 64) - 4;
    entry.done = window.vegaEmbed(canvas, fitted(read(figure.querySelector(":scope > script")), figure, room), {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: themed(theme, room), tooltip: { theme: theme },
      logLevel: 1 /* errors: an empty layer is no reason for a warning */
    }).then(function (drawn) {
      if (views.get(figure) !== entry) { drawn.finalize(); return; }
      entry.view = drawn.view;
      Object.keys(kept).forEach(function (name) { drawn.view.signal(name, kept[name]); });
      /* The frame has the description; hundreds of marks one by one would only be in the way. */
      all("svg", canvas).forEach(function (svg) { svg.setAttribute("aria-hidden", "true"); });
      all("select", canvas).forEach(function (field) { field.addEventListener("change", function () { tell(figure, drawn.view); }); });
      return drawn.view.runAsync().then(function () { figure.dataset.drawn = theme; });
    }).catch(function (error) {
      figure.dataset.failed = "";
      canvas.textContent = "This picture could not be drawn. The tables of this page contain its numbers.";
      console.error(error);
    });
    return entry.done;
  }

  /* What the drawing says of a choice is said to a screen reader, too. */
  function tell(figure, view) {
    view.runAsync().then(function () {
      var words = figure.querySelector("svg .role-title-text text");
      if (words) { say(words.textContent); }
    });
  }

  /* Agents that were chosen stay chosen when the colours change. */
  function chosen(view) {
    var kept = {};
    ["first", "second"].forEach(function (name) { try { kept[name] = view.signal(name); } catch (error) { /* it has no such field */ } });
    return kept;
  }

  var figures = all("figure.picture");
  figures.forEach(function (figure) {
    figure.querySelector(".save").addEventListener("click", function () {
      draw(figure).then(function () { return views.get(figure).view.toSVG(); }).then(function (svg) {
        save(figure.id + ".svg", "image/svg+xml", svg);
      });
    });
  });

  if ("IntersectionObserver" in window) {
    var watch = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) { if (entry.isIntersecting) { watch.unobserve(entry.target); draw(entry.target); } });
    }, { rootMargin: "300px" });
    figures.forEach(function (figure) { watch.observe(figure); });
  }

  var idle = window.requestIdleCallback || function (work) { return setTimeout(work, 50); };
  var waiting = figures.slice();
  (function next() {
    idle(function () {
      var figure = waiting.shift();
      if (figure) { Promise.resolve(draw(figure)).then(next); }
    });
  })();

  /* Colours ------------------------------------------------------------------------------------------------------------ */

  function redraw() { figures.filter(function (figure) { return views.has(figure); }).forEach(draw); }

  function choose(theme) {
    if (theme === "auto") { delete root.dataset.theme; } else { root.dataset.theme = theme; }
    try { window.localStorage.setItem("nashboard-theme", theme); } catch (error) { /* a file may not be allowed to remember */ }
    press();
    redraw();
  }

  function press() {
    all("[data-theme-choice]").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === (root.dataset.theme || "auto")));
    });
  }

  all("[data-theme-choice]").forEach(function (button) {
    button.addEventListener("click", function () { choose(button.dataset.themeChoice); });
  });
  prefersDark.addEventListener("change", redraw);
  var resized = 0;
  window.addEventListener("resize", function () { clearTimeout(resized); resized = setTimeout(redraw, 150); });
  press();

  /* Print: what is folded is opened, and folded again afterwards --------------------------------------------------------- */

  var opened = [];
  function unfold() {
    opened = opened.concat(all("details:not([open])"));
    opened.forEach(function (fold) { fold.open = true; });
  }
  function foldAgain() {
    opened.forEach(function (fold) { fold.open = false; });
    opened = [];
  }
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", foldAgain);
  window.matchMedia("print").addEventListener("change", function (event) { if (event.matches) { unfold(); } else { foldAgain(); } });

  /* Contents: closed on a narrow screen, and the section in view is marked ------------------------------------------------- */

  var contents = document.querySelector(".contents details");
  if (window.matchMedia("(max-width: 70rem)").matches) { contents.open = false; }
  if ("IntersectionObserver" in window) {
    var links = new Map(all(".contents a").map(function (link) { return [link.hash.slice(1), link]; }));
    var mark = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) { return; }
        links.forEach(function (link) { link.removeAttribute("aria-current"); });
        links.get(entry.target.id).setAttribute("aria-current", "true");
      });
    }, { rootMargin: "-10% 0px -80% 0px" });
    all("main > section").forEach(function (section) { mark.observe(section); });
  }
})();
