/**
 * Imported before each test file, before anything imports `node:test`: finds the running test by `AsyncLocalStorage`.
 * `node:test` finds it by hooks on each promise, which make every `await` of a test twenty times as expensive.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks'

type Call = (...args: never[]) => unknown

/** `node:test` makes a resource of one of these classes for each test. */
const CLASSES = new Set(['Test', 'Suite', 'TestHook'])

const running = new AsyncLocalStorage<AsyncResource>()
const { createHook, executionAsyncId } = asyncHooks
// Not the method of `AsyncResource` alone: `node:test` keeps its own copies of these two.
Object.assign(asyncHooks, {
  createHook: (callbacks: HookCallbacks) => createHook({ ...callbacks, trackPromises: false }),
  executionAsyncId: () => running.getStore()?.asyncId() ?? executionAsyncId(),
})
const { runInAsyncScope } = AsyncResource.prototype
AsyncResource.prototype.runInAsyncScope = function (this: AsyncResource, call, thisArg, ...args) {
  if (!CLASSES.has(this.constructor.name))
    return runInAsyncScope.call(this, call as Call, thisArg, ...args) as never
  return runInAsyncScope.call(
    this,
    () => running.run(this, () => Reflect.apply(call, thisArg, args)),
    thisArg,
  ) as never
}
