// Search without a server: browsers refuse to start a worker from a file, so it runs in a hidden frame instead.
// The theme looks for a class of this name; English needs no further scripts, so `importScripts` is not provided.
(() => {
  if (location.protocol !== "file:") return;
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      this.waiting = [];
      this.scope.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const script = this.scope.document.createElement("script");
      script.src = url;
      script.onload = () => {
        const send = this.waiting;
        this.waiting = null;
        send.forEach((data) => this.postMessage(data));
      };
      this.scope.document.body.appendChild(script);
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data }));
    }
    terminate() {}
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
