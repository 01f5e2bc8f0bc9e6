/** Whether the server can be reached: by what the browser says, and by whether the last request got an answer. */
import { onlineManager } from '@tanstack/react-query'

let isThere = true
const listeners = new Set<() => void>()

onlineManager.subscribe(noteConnection)

export function noteConnection(isThereNow: boolean): void {
  if (isThere === isThereNow) return
  isThere = isThereNow
  for (const listener of listeners) listener()
}

export function isConnected(): boolean {
  return isThere
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
