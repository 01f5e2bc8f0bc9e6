import type { DataKind } from '../../../customers/shield-setting.ts'
import { refusals, type Refusal } from '../refusal.ts'
import type { FoundData } from './shielded-request.ts'

const NAMES: Readonly<Record<DataKind, readonly [one: string, many: string]>> = {
  cpf: ['CPF', 'CPFs'],
  cnpj: ['CNPJ', 'CNPJs'],
  email: ['e-mail', 'e-mails'],
  phone: ['telefone', 'telefones'],
  card: ['número de cartão', 'números de cartão'],
  pix_key: ['chave Pix', 'chaves Pix'],
}
const PLACES_MAX = 10
const NO_FIELD = 'outros campos'

/** Says which kinds stand where, and never a value. */
export function refusalOfData({ counts, places }: FoundData): Refusal {
  const found = Object.entries(counts).map(
    ([kind, count]) => `${count} ${NAMES[kind as DataKind][count === 1 ? 0 : 1]}`,
  )
  const named = places.map((place) => (place === 'request' ? NO_FIELD : place))
  const rest = named.length - PLACES_MAX
  const shown = named.slice(0, PLACES_MAX).concat(rest > 0 ? [`mais ${rest}`] : [])
  return refusals.personalDataFound(listed(found), listed(shown))
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} e ${last}`
}
