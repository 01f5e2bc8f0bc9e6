/** The browser's database of conversations: on the disk, so it must not outlive the customer's session. */
export const HISTORY_DATABASE = 'catraca-playground'

/** Other tabs close their connections when they are told of the deletion (`blocking` in playground/history.ts). */
export function deleteHistoryDatabase(): void {
  try {
    indexedDB.deleteDatabase(HISTORY_DATABASE)
  } catch {
    // A browser without this storage has nothing to delete.
  }
}
