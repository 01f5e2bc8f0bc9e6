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

export interface FoundPlayground extends Kept {
  /** The conversation that was open, when it was too long for the tab's storage. */
  readonly openId?: string
}

const PLACE = 'catraca-playground'
const KEY_PLACE = 'catraca-playground-key'
/** Increase it when the stored shape changes: older data is then discarded. */
const VERSION = 2

/** Ignores the conversation of another customer in this tab. */
export function readKept(customerId: string): FoundPlayground {
  const found = read(customerId)
  return {
    conversation: found?.conversation ?? emptyConversation(),
    settings: { ...SETTINGS_AT_FIRST, ...found?.settings },
    ...(found?.openId === undefined ? {} : { openId: found.openId }),
  }
}

function read(customerId: string): Partial<FoundPlayground> | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? 'null')
    return kept?.version === VERSION && kept.customerId === customerId ? kept : undefined
  } catch {
    return undefined
  }
}

export function keep(customerId: string, { conversation, settings }: Kept): void {
  const own = { version: VERSION, customerId, settings }
  // With images it is too long for this storage; then the history has it.
  if (!store({ ...own, conversation })) store({ ...own, openId: conversation.id })
}

function store(value: object): boolean {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(value))
    return true
  } catch {
    return false
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
