/**
 * The work of a function, counted in place of timed: how often the blocks of `src` ran, and how many members the
 * platform's searches by value may have looked at. The same on every machine. Blocks of functions that were compiled
 * before count as far as their function does, so a loop is seen only in a module that is loaded within `work`.
 */
import { Session, type Profiler } from 'node:inspector'

const LISTS = Array.prototype
const SEARCHES = ['indexOf', 'lastIndexOf', 'includes'] as const

export async function countWork(work: () => void | Promise<void>): Promise<number> {
  const session = new Session()
  session.connect()
  const searched = countSearched()
  try {
    session.post('Profiler.enable')
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    await work()
    return countOf(takeCoverage(session)) + searched.end()
  } finally {
    searched.end()
    session.disconnect()
  }
}

function takeCoverage(session: Session): readonly Profiler.ScriptCoverage[] {
  const taken: Profiler.ScriptCoverage[] = []
  // The callback runs before `post` returns.
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error
    taken.push(...coverage.result)
  })
  return taken
}

function countOf(scripts: readonly Profiler.ScriptCoverage[]): number {
  const ranges = scripts
    .filter(({ url }) => url.includes('/src/'))
    .flatMap(({ functions }) => functions.flatMap((each) => each.ranges))
  return ranges.reduce((sum, { count }) => sum + count, 0)
}

function countSearched(): { end(): number } {
  const own = SEARCHES.map((name) => [name, LISTS[name]] as const)
  const put = (name: string, search: unknown): void =>
    void Object.defineProperty(LISTS, name, {
      configurable: true,
      writable: true,
      value: search,
    })
  let members = 0
  for (const [name, search] of own)
    put(name, function counted(this: unknown[], ...searched: unknown[]): unknown {
      members += this.length
      return Reflect.apply(search, this, searched)
    })
  return {
    end() {
      for (const [name, search] of own) put(name, search)
      return members
    },
  }
}
