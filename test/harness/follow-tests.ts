/**
 * Imported before each test file, before anything imports `node:test`: finds the running test by `AsyncLocalStorage`.
 * `node:test` finds it by hooks on each promise, which make every `await` of a test twenty times as expensive.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks'

/** `node:test` makes a resource of one of these classes for each test. */
const CLASSES = new Set(['Test', 'Suite', 'TestHook'])

const running = new AsyncLocalStorage<AsyncResource>()
const { createHook, executionAsyncId } = asyncHooks
// Not the method of `AsyncResource` alone: `node:test` keeps its own copies of these two.
Object.assign(asyncHooks, {
  createHook: (callbacks: HookCallbacks) => createHook({ ...callbacks, trackPromises: false }),
  executionAsyncId: () => running.getStore()?.asyncId() ?? executionAsyncId(),
})
const run = Reflect.get(AsyncResource.prototype, 'runInAsyncScope') as (
  this: AsyncResource,
  call: () => unknown,
) => unknown
AsyncResource.prototype.runInAsyncScope = function (this: AsyncResource, call, thisArg, ...args) {
  const work = (): unknown => Reflect.apply(call, thisArg, args)
  const isTest = CLASSES.has(this.constructor.name)
  return Reflect.apply(run, this, [isTest ? () => running.run(this, work) : work]) as never
}
