/**
 * Persists the playground over a reload: the conversation and its settings in this tab, the chosen key's id in
 * this browser.
 */
import { SETTINGS_AT_FIRST, type ChatSettings } from './chat-settings.ts'
import { emptyConversation, type Conversation } from './conversation.ts'

export interface Kept {
  readonly conversation: Conversation
  readonly settings: ChatSettings
}

const PLACE = 'catraca-playground'
const KEY_PLACE = 'catraca-playground-key'
/** Increase it when the stored shape changes: older data is then discarded. */
const VERSION = 1

/** Ignores the conversation of another customer in this tab. */
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
    // Too long for this browser's storage, or no storage at all: a reload then starts anew.
  }
}

/** The id of the last chosen key; the dashboard never has the secret. */
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
    // The user then chooses again next time.
  }
}
