// Applies the reader's choice of a theme before the page is painted. Without a choice the system's theme applies.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen !== null) document.documentElement.dataset.theme = chosen;
} catch {
  // The browser keeps no data for this page.
}
