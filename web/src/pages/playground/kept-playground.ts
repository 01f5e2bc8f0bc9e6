/** What a reload of the playground finds again: the conversation and its settings in this tab, the key in this browser. */
import { SETTINGS_AT_FIRST, type ChatSettings } from './chat-settings.ts'
import { emptyConversation, type Conversation } from './conversation.ts'

export interface Kept {
  readonly conversation: Conversation
  readonly settings: ChatSettings
}

const PLACE = 'catraca-playground'
const KEY_PLACE = 'catraca-playground-key'
/** Another shape of what is kept gets another number: the old is then forgotten. */
const VERSION = 1

/** What another customer has said in this tab is not found. */
export function readKept(customerId: string): Kept {
  const kept = read(customerId)
  return {
    conversation: kept?.conversation ?? emptyConversation(),
    settings: { ...SETTINGS_AT_FIRST, ...kept?.settings },
  }
}

function read(customerId: string): Partial<Kept> | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? 'null')
    return kept?.version === VERSION && kept.customerId === customerId ? kept : undefined
  } catch {
    return undefined
  }
}

export function keep(customerId: string, kept: Kept): void {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify({ version: VERSION, customerId, ...kept }))
  } catch {
    // Too long for this browser, or it keeps nothing: then a reload begins anew.
  }
}

/** The key that was chosen last, by its id: its secret is known to nobody here. */
export function readKeptKey(): string | undefined {
  try {
    return localStorage.getItem(KEY_PLACE) ?? undefined
  } catch {
    return undefined
  }
}

export function keepKey(id: string): void {
  try {
    localStorage.setItem(KEY_PLACE, id)
  } catch {
    // Then it is chosen again next time.
  }
}
