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

// Without the code of the dashboard the page would stay white.
addEventListener(
  'error',
  function (event) {
    var root = document.getElementById('root')
    if (event.target.type !== 'module' || !root) return
    // A drawn page waits for the code.
    if (root.firstChild && !root.hasAttribute('data-still')) return
    var isEnglish = /^en/i.test(navigator.language)
    document.documentElement.lang = isEnglish ? 'en' : 'pt-BR'
    var text = document.createElement('p')
    text.textContent = isEnglish
      ? 'Catraca did not load. Check your connection and reload the page.'
      : 'A Catraca não carregou. Confira sua conexão e recarregue a página.'
    var button = document.createElement('button')
    button.textContent = isEnglish ? 'Reload the page' : 'Recarregar a página'
    button.style.cssText =
      'margin-top:1rem;padding:0.6rem 1rem;border:1px solid;border-radius:0.5rem'
    button.addEventListener('click', function () {
      location.reload()
    })
    var main = document.createElement('main')
    main.style.cssText = 'max-width:36rem;margin:20vh auto;padding:1rem;font:1rem/1.5 system-ui'
    main.append(text, button)
    root.replaceChildren(main)
  },
  true,
)
