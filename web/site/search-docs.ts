/** The search of the documentation: every word that is typed must begin a word of the entry. */
import type { SearchEntry } from '../../src/site/docs/doc-routes.ts'
import { searchEntries } from './rank-entries.ts'
import { say } from './say.ts'

const SHOWN_MAX = 12

export async function startSearch(
  field: HTMLInputElement,
  results: HTMLElement,
  address: string,
): Promise<void> {
  const answer = await fetch(address, { credentials: 'omit' })
  const entries = (await answer.json()) as readonly SearchEntry[]
  const show = (): void => {
    const found = searchEntries(entries, field.value).slice(0, SHOWN_MAX)
    const items = found.map(itemOf)
    const isAsked = field.value.trim().length > 1
    results.replaceChildren(...(items.length === 0 && isAsked ? [nothing()] : items))
  }
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    const [first] = results.querySelectorAll('a')
    if (event.key === 'Escape') results.replaceChildren()
    if (event.key === 'Enter') first?.click()
    if (event.key !== 'ArrowDown' || !first) return
    event.preventDefault()
    first.focus()
  })
  results.addEventListener('keydown', (event) => moveFocus(event, results, field))
  results.addEventListener('click', () => results.replaceChildren())
  show()
}

function itemOf({ title, within, path }: SearchEntry): HTMLElement {
  const [item, link, note] = [
    document.createElement('li'),
    document.createElement('a'),
    document.createElement('small'),
  ]
  link.href = path
  link.textContent = title
  note.textContent = within
  link.append(note)
  item.append(link)
  return item
}

function nothing(): HTMLElement {
  const item = document.createElement('li')
  item.className = 'muted'
  item.textContent = say(
    'Nada encontrado. Tente outra palavra.',
    'Nothing found. Try another word.',
  )
  return item
}

function moveFocus(event: KeyboardEvent, results: HTMLElement, field: HTMLElement): void {
  const links = [...results.querySelectorAll('a')]
  const place = links.indexOf(document.activeElement as HTMLAnchorElement)
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  const step = steps[event.key]
  if (event.key === 'Escape') field.focus()
  if (step === undefined || place < 0) return
  event.preventDefault()
  const next = links[place + step] ?? (step < 0 ? field : undefined)
  next?.focus()
}
