import type { ServerResponse } from 'node:http'

export function hasLeft(raw: ServerResponse): boolean {
  return raw.destroyed && !raw.writableFinished
}

export function onLeave(raw: ServerResponse, callback: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) callback()
  })
}
