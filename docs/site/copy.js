// SPDX-License-Identifier: Apache-2.0
// A button on each block of code that copies it.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "copy";
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("pre").innerText);
        button.textContent = "copied";
      } catch {
        // Pages that are opened from a folder may not write there: the code is selected, to be copied by the keyboard.
        const range = document.createRange();
        range.selectNodeContents(block.querySelector("pre"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    };
    block.append(button);
  }
});
