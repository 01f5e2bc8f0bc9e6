/**
 * The customer's conversations in this browser, with their images. They never reach the server, and are deleted at
 * sign-out and when another customer signs in (`lib/sign-out-acts.ts`). A browser that refuses the storage, as some
 * do in private windows, has no history: reads then find nothing.
 */
import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import { HISTORY_DATABASE } from '../../lib/history-database.ts'
import type { Conversation } from './conversation.ts'

/** What the list shows, apart from the conversation, which may have megabytes of images. */
export interface SavedHead {
  readonly customerId: string
  readonly id: string
  readonly title: string
  readonly models: readonly string[]
  readonly costs: readonly number[]
  /** Milliseconds since 1970. */
  readonly savedAt: number
}

interface SavedBody {
  readonly customerId: string
  readonly id: string
  readonly conversation: Conversation
}

interface Schema extends DBSchema {
  heads: { key: [string, string]; value: SavedHead }
  bodies: { key: [string, string]; value: SavedBody }
}

const VERSION = 1
/** The oldest beyond it are deleted. */
const SAVED_MAX = 100
const TITLE_LENGTH_MAX = 80

let opened: Promise<IDBPDatabase<Schema>> | undefined

function open(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>(HISTORY_DATABASE, VERSION, {
    upgrade(database) {
      database.createObjectStore('heads', { keyPath: ['customerId', 'id'] })
      database.createObjectStore('bodies', { keyPath: ['customerId', 'id'] })
    },
    // Another tab deletes the database, as at a sign-out.
    blocking(_current, _blocked, event) {
      opened = undefined
      ;(event.target as IDBDatabase).close()
    },
    terminated() {
      opened = undefined
    },
  })
  opened.catch(() => {
    opened = undefined
  })
  return opened
}

export async function saveInHistory(customerId: string, conversation: Conversation): Promise<void> {
  try {
    const { id } = conversation
    const saving = (await open()).transaction(['heads', 'bodies'], 'readwrite')
    const heads = saving.objectStore('heads')
    const bodies = saving.objectStore('bodies')
    await heads.put(headOf(customerId, conversation))
    await bodies.put({ customerId, id, conversation })
    const all = await heads.getAll()
    const own = all.filter((head) => head.customerId === customerId).toSorted(byTime)
    const others = all.filter((head) => head.customerId !== customerId)
    for (const head of [...own.slice(SAVED_MAX), ...others]) {
      await heads.delete([head.customerId, head.id])
      await bodies.delete([head.customerId, head.id])
    }
    await saving.done
  } catch {
    // The conversation then lasts as long as its tab.
  }
}

/** The newest first. */
export async function listSaved(customerId: string): Promise<readonly SavedHead[]> {
  try {
    const heads = await (await open()).getAll('heads')
    return heads.filter((head) => head.customerId === customerId).toSorted(byTime)
  } catch {
    return []
  }
}

export async function readSaved(customerId: string, id: string): Promise<Conversation | undefined> {
  try {
    return (await (await open()).get('bodies', [customerId, id]))?.conversation
  } catch {
    return undefined
  }
}

export async function deleteSaved(customerId: string, ids: readonly string[]): Promise<void> {
  const deleting = (await open()).transaction(['heads', 'bodies'], 'readwrite')
  for (const id of ids) {
    await deleting.objectStore('heads').delete([customerId, id])
    await deleting.objectStore('bodies').delete([customerId, id])
  }
  await deleting.done
}

function byTime(left: SavedHead, right: SavedHead): number {
  return right.savedAt - left.savedAt
}

function headOf(customerId: string, { id, lanes, costs }: Conversation): SavedHead {
  const said = lanes[0]?.turns.find((turn) => turn.kind === 'user')
  const text = said?.kind === 'user' ? said.text : ''
  const models = lanes.flatMap(({ turns }) =>
    turns.flatMap((turn) => (turn.kind === 'answer' ? [turn.model] : [])),
  )
  return {
    customerId,
    id,
    title: text.replaceAll(/\s+/g, ' ').slice(0, TITLE_LENGTH_MAX),
    models: [...new Set(models)],
    costs,
    savedAt: Date.now(),
  }
}
