/**
 * Imported before each test file, before anything imports `node:test`: finds the running test by `AsyncLocalStorage`.
 * `node:test` finds it by hooks on each promise, which make every `await` of a test twenty times as expensive.
 *
 * An error that nothing catches, in a server that an earlier hook started in this process, fails the test that runs:
 * `node:test` would only let the process end with a failure, without the name of a test.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks'

/** `node:test` makes a resource of one of these classes for each test. */
const CLASSES = new Set(['Test', 'Suite', 'TestHook'])

const running = new AsyncLocalStorage<AsyncResource>()
/** Those that have not ended, in the order of their beginnings. */
const active = new Set<AsyncResource>()
/** While `node:test` looks for the test that an error belongs to. */
let isError = false
const noteError = (): void => {
  isError = true
  queueMicrotask(() => (isError = false))
}
process.on('uncaughtExceptionMonitor', noteError)
process.prependListener('unhandledRejection', noteError)

function findRunning(): AsyncResource | undefined {
  const own = running.getStore()
  if (!isError || (own && active.has(own))) return own
  return [...active].at(-1) ?? own
}

const { createHook, executionAsyncId } = asyncHooks
// Not the method of `AsyncResource` alone: `node:test` keeps its own copies of these two.
Object.assign(asyncHooks, {
  createHook: (callbacks: HookCallbacks) => createHook({ ...callbacks, trackPromises: false }),
  executionAsyncId: () => findRunning()?.asyncId() ?? executionAsyncId(),
})
const run = Reflect.get(AsyncResource.prototype, 'runInAsyncScope') as (
  this: AsyncResource,
  call: () => unknown,
) => unknown
AsyncResource.prototype.runInAsyncScope = function (this: AsyncResource, call, thisArg, ...args) {
  const work = (): unknown => Reflect.apply(call, thisArg, args)
  if (!CLASSES.has(this.constructor.name)) return Reflect.apply(run, this, [work]) as never
  active.add(this)
  const end = (): void => void active.delete(this)
  let result: unknown
  try {
    result = Reflect.apply(run, this, [() => running.run(this, work)])
  } finally {
    if (result instanceof Promise) result.then(end, end)
    else end()
  }
  return result as never
}
