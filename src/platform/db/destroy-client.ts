import type pg from 'pg'

/** Ends a connection at once: a graceful close would wait for ever on a broken or frozen one. */
export function destroyClient(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
