import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/fast-check.ts'
import { ReplicaLag } from './replica-lag.ts'

/** Something that happens a moment after the one before. */
const steps = fc.array(
  fc.record({
    afterMs: fc.nat({ max: 5_000 }),
    commits: fc.nat({ max: 3 }),
    /** The share of the distance to the primary that the replica replays. */
    replays: fc.integer({ min: 0, max: 4 }),
    isAsked: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
)

test('the replica has everything that was committed before the time that it claims', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const lag = new ReplicaLag()
      const commits: { position: bigint; atMs: number }[] = []
      let [nowMs, primary, replica] = [0, 10n, 10n]
      for (const { afterMs, commits: count, replays, isAsked } of all) {
        nowMs += afterMs
        for (let commit = 0; commit < count; commit++) {
          primary += 7n
          commits.push({ position: primary, atMs: nowMs })
        }
        nowMs += 1
        replica += ((primary - replica) * BigInt(replays)) / 4n
        if (isAsked) lag.primaryAt(primary, nowMs)
        lag.replicaAt(replica, nowMs)
        const ageMs = lag.ageMs(nowMs)
        if (ageMs === undefined) continue
        for (const { position, atMs } of commits)
          if (atMs <= nowMs - ageMs) assert.ok(position <= replica, `${position} of ${replica}`)
        if (isAsked && replica === primary) assert.equal(ageMs, 0)
      }
    }),
  )
})

test('on an idle database a replica that has everything is not old', () => {
  const lag = new ReplicaLag()
  for (const atMs of [0, 1_000, 3_600_000]) {
    lag.primaryAt(100n, atMs)
    lag.replicaAt(100n, atMs)
  }
  assert.equal(lag.ageMs(3_600_500), 500)
})

test('nothing is known before the first moment is reached, and after a replica went back', () => {
  const lag = new ReplicaLag()
  lag.primaryAt(100n, 0)
  lag.replicaAt(99n, 5)
  assert.equal(lag.ageMs(10), undefined)
  lag.replicaAt(100n, 8)
  assert.equal(lag.ageMs(10), 10)
  lag.replicaAt(50n, 15)
  assert.equal(lag.ageMs(20), undefined)
  lag.primaryAt(120n, 30)
  lag.replicaAt(120n, 30)
  assert.equal(lag.ageMs(31), 1)
})

test('after a fail-over that lost changes, the replica is measured anew', () => {
  const lag = new ReplicaLag()
  lag.primaryAt(200n, 0)
  lag.replicaAt(200n, 10)
  lag.primaryAt(150n, 1_000)
  assert.equal(lag.ageMs(1_000), undefined)
  lag.replicaAt(150n, 1_000)
  assert.equal(lag.ageMs(1_000), 0)
})

test('a replica with changes that the primary never had stays unknown when the primary passes it', () => {
  const lag = new ReplicaLag()
  lag.primaryAt(200n, 0)
  lag.replicaAt(200n, 10)
  lag.primaryAt(150n, 1_000)
  lag.replicaAt(200n, 1_010)
  assert.equal(lag.isAhead, true)
  assert.equal(lag.ageMs(1_010), undefined)
  lag.primaryAt(300n, 2_000)
  lag.replicaAt(320n, 2_010)
  assert.equal(lag.ageMs(2_010), undefined)
  lag.replicaLeft()
  lag.primaryAt(400n, 3_000)
  lag.replicaAt(400n, 3_010)
  assert.equal(lag.isAhead, false)
  assert.equal(lag.ageMs(3_010), 10)
})

test('a replica that replays on while the primary is asked is not ahead of it', () => {
  const lag = new ReplicaLag()
  lag.primaryAt(100n, 0)
  lag.replicaAt(100n, 10)
  lag.replicaAt(130n, 1_010)
  lag.primaryAt(120n, 1_000)
  lag.replicaAt(130n, 1_020)
  assert.equal(lag.isAhead, false)
  assert.equal(lag.ageMs(1_020), 20)
})

test('a replica that is stuck for a day costs no memory, and its age is still an upper bound', () => {
  const lag = new ReplicaLag()
  lag.primaryAt(0n, 0)
  lag.replicaAt(0n, 0)
  for (let second = 1; second <= 86_400; second++) lag.primaryAt(BigInt(second), second * 1_000)
  lag.replicaAt(43_200n, 86_400_000)
  const ageMs = lag.ageMs(86_400_000) ?? 0
  assert.ok(ageMs >= 43_200_000 && ageMs < 44_000_000, String(ageMs))
})
