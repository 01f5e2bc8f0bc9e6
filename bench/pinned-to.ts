import type { Command, Processes } from './processes.ts'

/** The same processes on these processors alone, with their children; on all if none are named. */
export function pinnedTo(all: Processes, cpus: string | undefined): Processes {
  if (cpus === undefined) return all
  const pinned = <Any extends Command>(command: Any): Any => ({
    ...command,
    command: 'taskset',
    args: ['-c', cpus, command.command, ...command.args],
  })
  return {
    ...all,
    start: (command) => all.start(pinned(command)),
    run: (command, timeoutMs) => all.run(pinned(command), timeoutMs),
  }
}
