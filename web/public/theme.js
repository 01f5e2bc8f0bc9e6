// Runs before the first paint, so that the page never shows in the other theme first.
// A file and not an inline script: the content security policy allows none.
;(function () {
  var choice = null
  try {
    choice = localStorage.getItem('catraca.theme')
  } catch {
    // A browser that keeps nothing for us: the system's choice stands.
  }
  if (choice === 'dark' || choice === 'light') document.documentElement.classList.add(choice)
})()
