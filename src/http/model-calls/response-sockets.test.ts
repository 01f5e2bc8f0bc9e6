import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NOTHING_ELSEWHERE } from '../../platform/admission/share.ts'
import { createResponseSockets, type ResponseSocket } from './response-sockets.ts'

const TERMS = {
  perCustomerMax: 2,
  idleMsMax: 1_000,
  arrivalMsMax: 1_000,
  ageMsMax: 10_000,
  everyMs: 5,
}

interface Facts {
  openedAtMs?: number
  idleSinceMs?: number | undefined
  arrivingSinceMs?: number
  isThere?: boolean
}

/** A socket of these facts, and what is done to it. */
function socketOf(facts: Facts): { socket: ResponseSocket; done: Set<string> } {
  const done = new Set<string>()
  const nowMs = performance.now()
  const socket: ResponseSocket = {
    openedAtMs: facts.openedAtMs ?? nowMs,
    idleSinceMs: () => ('idleSinceMs' in facts ? facts.idleSinceMs : nowMs),
    arrivingSinceMs: () => facts.arrivingSinceMs,
    ping: () => facts.isThere ?? true,
    end: (reason) => void done.add(reason),
    cutOff: () => void done.add('cut off'),
  }
  return { socket, done }
}

async function fateOf(facts: Facts, isClosing = false): Promise<string[]> {
  const sockets = createResponseSockets(NOTHING_ELSEWHERE, 3, TERMS)
  const place = sockets.take('one')
  assert.ok(typeof place !== 'string')
  const { socket, done } = socketOf(facts)
  place.watch(socket)
  if (isClosing) sockets.close(60_000)
  await sleep(30)
  place[Symbol.dispose]()
  return [...done]
}

test('a connection that is idle or old ends, one that is dead or sends too slowly is cut off, and the others stay', async () => {
  const longAgoMs = performance.now() - 20_000
  const busy = { idleSinceMs: undefined }
  assert.deepEqual(await fateOf({}), [])
  assert.deepEqual(await fateOf({ idleSinceMs: longAgoMs }), ['idle'])
  assert.deepEqual(await fateOf({ openedAtMs: longAgoMs }), ['old'])
  assert.deepEqual(await fateOf({ openedAtMs: longAgoMs, ...busy }), [], 'not before its call')
  assert.deepEqual(await fateOf({ isThere: false }), ['cut off'])
  assert.deepEqual(await fateOf({ isThere: false, ...busy }), ['cut off'])
  assert.deepEqual(await fateOf({ arrivingSinceMs: longAgoMs }), ['cut off'])
})

test('a server that closes takes no connection, ends the idle ones, and leaves calls their time', async () => {
  assert.deepEqual(await fateOf({}, true), ['closing'])
  assert.deepEqual(await fateOf({ idleSinceMs: undefined }, true), [])
  const sockets = createResponseSockets(NOTHING_ELSEWHERE, 3, TERMS)
  const place = sockets.take('one')
  assert.ok(typeof place !== 'string')
  const { socket, done } = socketOf({ idleSinceMs: undefined })
  place.watch(socket)
  sockets.close(5)
  assert.equal(sockets.take('one'), 'closing')
  await sleep(30)
  assert.deepEqual([...done], ['cut off'])
  place[Symbol.dispose]()
})

test('places are counted for each customer, and are free again', () => {
  const sockets = createResponseSockets(NOTHING_ELSEWHERE, 3, TERMS)
  const places = [sockets.take('one'), sockets.take('one')]
  assert.equal(sockets.take('one'), 'own')
  assert.equal(typeof sockets.take('other'), 'object')
  assert.equal(sockets.take('third'), 'all')
  const [first] = places
  assert.ok(first !== undefined && typeof first !== 'string')
  first[Symbol.dispose]()
  assert.equal(typeof sockets.take('one'), 'object')
})
