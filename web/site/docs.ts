/**
 * The documentation in a browser: the chosen language of samples first, copy buttons, and what is loaded when it is
 * wanted: the search and "Experimentar".
 * Without this script all pages are there to read.
 */
import { chooseClient, chosenClient } from '../src/lib/chosen-client.ts'
import { say } from './say.ts'

putChosenFirst()
addSearch()
addCopyButtons()
addTryButtons()

function putChosenFirst(): void {
  const chosen = chosenClient()
  for (const each of document.querySelectorAll<HTMLDetailsElement>('.samples details')) {
    const { sample = '' } = each.querySelector('pre')?.dataset ?? {}
    each.querySelector('summary')?.addEventListener('click', () => chooseClient(sample))
    if (sample !== chosen) continue
    each.parentElement?.prepend(each)
    each.open = true
  }
}

function addSearch(): void {
  const place = document.querySelector<HTMLElement>('.seek')
  if (!place) return
  const field = document.createElement('input')
  field.type = 'search'
  field.id = 'busca'
  field.autocomplete = 'off'
  const label = document.createElement('label')
  label.htmlFor = field.id
  label.textContent = say('Buscar na documentação', 'Search the docs')
  const results = document.createElement('ol')
  results.setAttribute('aria-label', say('Resultados', 'Results'))
  place.replaceChildren(label, field, results)
  const load = async (): Promise<void> => {
    field.removeEventListener('focus', load)
    const { startSearch } = await import('./search-docs.ts')
    await startSearch(field, results, place.dataset.index ?? '')
  }
  field.addEventListener('focus', load)
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    field.focus()
  })
}

function addCopyButtons(): void {
  if (!navigator.clipboard) return
  for (const code of document.querySelectorAll<HTMLElement>('.docs pre.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    const copy = say('Copiar', 'Copy')
    button.textContent = copy
    button.setAttribute('aria-label', `${copy} ${code.getAttribute('aria-label') ?? ''}`)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent ?? '')
      button.textContent = say('Copiado', 'Copied')
      setTimeout(() => (button.textContent = copy), 2_000)
    })
    code.before(button)
  }
}

function addTryButtons(): void {
  for (const place of document.querySelectorAll<HTMLElement>('.try')) {
    const { method = '', path = '' } = place.dataset
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button plain'
    button.textContent = say('Experimentar', 'Try it')
    button.setAttribute('aria-label', `${button.textContent} ${method} ${path}`)
    button.addEventListener('click', async () => {
      const { openTrial } = await import('./try-operation.ts')
      openTrial(place)
    })
    place.replaceChildren(button)
  }
}
