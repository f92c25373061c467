/**
 * A part of the page that comes in from the side where the window is narrow. Everything but it and
 * the toasts (which may offer to undo) is out of reach until it is closed.
 */
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";

const FOCUSABLE = "button, a[href], input, select, textarea";

/** @param {{label: string, side: "left" | "right", onClose: () => void, children: unknown}} props */
export function Drawer({ label, side, onClose, children }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const drawer = element.current;
    const others = [...drawer.parentElement.children].filter((one) => !one.dataset.drawer);
    const behind = [...others, ...document.querySelectorAll(".top, .skip")];
    for (const one of behind) one.inert = true;
    (drawer.querySelector(FOCUSABLE) ?? drawer).focus();
    return () => {
      for (const one of behind) one.inert = false;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const press = (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.stopPropagation();
    onClose();
  };
  return html`<div class="drawer-backdrop" data-drawer="true" onClick=${onClose}></div>
    <div
      ref=${element}
      class=${`drawer ${side}`}
      role="dialog"
      aria-modal="true"
      aria-label=${label}
      tabindex="-1"
      data-drawer="true"
      onKeyDown=${press}
    >
      ${children}
    </div>`;
}
