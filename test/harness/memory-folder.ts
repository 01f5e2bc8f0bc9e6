import { tmpdir } from 'node:os'

/**
 * A folder in memory if the machine has one with room, for databases of tests about processes: to create one costs a
 * fifth of what it costs on a disk. A killed process loses no more there than on a disk.
 */
export function memoryFolder(): string {
  return process.env.TEST_MEMORY_FOLDER ?? tmpdir()
}
