import type { LucideIcon } from 'lucide-react'
import { plainText } from '../lib/plain-text.ts'
import { perLanguage } from '../language/per-language.ts'
import { t } from '../language/t.ts'

/** Where the menu of Ctrl-K leads, or what it does. */
export interface Command {
  readonly id: string
  readonly kind: 'page' | 'act' | 'key' | 'model'
  readonly label: string
  /** Further words by which it is found. */
  readonly words?: string
  readonly icon: LucideIcon
  readonly run: () => void
}

export const KIND_WORDS = perLanguage((): Readonly<Record<Command['kind'], string>> => ({
  page: t('Página'),
  act: t('Ação'),
  key: t('Chave'),
  model: t('Modelo'),
}))

const SHOWN_MAX = 50

/** Those with every searched word; names that begin with the text come first. Without a text: pages and acts. */
export function chooseCommands(all: readonly Command[], search: string): readonly Command[] {
  const text = plainText(search)
  if (text === '') return all.filter(({ kind }) => kind === 'page' || kind === 'act')
  const words = text.split(/\s+/)
  const found = all.filter(({ kind, label, words: more = '' }) => {
    const own = plainText(`${label} ${KIND_WORDS()[kind]} ${more}`)
    return words.every((word) => own.includes(word))
  })
  const begins = ({ label }: Command): number => Number(!plainText(label).startsWith(text))
  return found.toSorted((left, right) => begins(left) - begins(right)).slice(0, SHOWN_MAX)
}
