/** Turns works into the parameters of `ledger_batch`. */
import { compositeText } from '../../../platform/db/composite-text.ts'
import {
  type LaneWork,
  ATTEMPT_FIELDS,
  attemptFields,
  CHECKPOINT_FIELDS,
  checkpointFields,
  inOrder,
  ipWindow,
  keyWindow,
  RESOLUTION_FIELDS,
} from './ledger-fields.ts'

export interface LedgerBatch {
  /** The customers whose accounts are locked. */
  readonly customerIds: readonly string[]
  readonly resolutions: readonly string[]
  readonly checkpoints: readonly string[]
  /** The rate windows of the batch, sorted, and the number of new requests of each. */
  readonly subjects: readonly string[]
  readonly subjectRequests: readonly number[]
  /** Sorted by customer and key, in their order within a key. */
  readonly attempts: readonly string[]
  /** The batch only takes holds and counts requests, so its commit need not wait for the disk, see `Verdict.isDurable`. */
  readonly commitsAsynchronously: boolean
  /** For each attempt, the index of its work. */
  readonly order: readonly number[]
}

type Asking = LaneWork & { kind: 'attempt' | 'count' }

export function layOutBatch(works: readonly LaneWork[]): LedgerBatch {
  const customerIds = new Set<string>()
  const resolutions: string[] = []
  const checkpoints: string[] = []
  const asking: { work: Asking; index: number; sortKey: string }[] = []
  works.forEach((work, index) => {
    switch (work.kind) {
      case 'resolve':
        customerIds.add(work.row.customer_id)
        resolutions.push(compositeText(inOrder(RESOLUTION_FIELDS, work.row)))
        break
      case 'checkpoint':
        for (const each of work.checkpoints)
          checkpoints.push(compositeText(inOrder(CHECKPOINT_FIELDS, checkpointFields(each))))
        break
      case 'attempt':
        customerIds.add(work.attempt.customerId)
        asking.push({ work, index, sortKey: work.attempt.customerId + work.attempt.key.id })
        break
      case 'count':
        asking.push({ work, index, sortKey: work.count.key?.id ?? '' })
    }
  })
  asking.sort((left, right) =>
    left.sortKey < right.sortKey ? -1 : left.sortKey > right.sortKey ? 1 : 0,
  )
  const windows = countWindows(asking.map(({ work }) => work))
  return {
    customerIds: [...customerIds],
    resolutions,
    checkpoints,
    ...windows,
    attempts: asking.map(({ work }, index) =>
      attemptText(work, windows.byAttempt[index] as AttemptWindows),
    ),
    commitsAsynchronously: works.every(({ kind }) => kind === 'count' || kind === 'attempt'),
    order: asking.map(({ index }) => index),
  }
}

interface AttemptWindows {
  readonly ip: WindowPlace | undefined
  readonly key: WindowPlace | undefined
}

interface WindowPlace {
  /** The place of the window in the subjects of the batch, from 1. */
  readonly place: number
  /** The number of new requests of the batch after this one, as a number from 0 down. */
  readonly offset: number
}

/** The rate windows of a batch, and the place of each request in its windows. */
function countWindows(asking: readonly Asking[]): {
  subjects: string[]
  subjectRequests: number[]
  byAttempt: AttemptWindows[]
} {
  const requests = new Map<string, number>()
  const enter = (subject: string, isNew: boolean): { subject: string; rank: number } => {
    const rank = (requests.get(subject) ?? 0) + (isNew ? 1 : 0)
    requests.set(subject, rank)
    return { subject, rank }
  }
  const entered = asking.map((work) => {
    const { ip, key } = work.kind === 'attempt' ? work.attempt : work.count
    const isNew = work.kind === 'count' || !work.attempt.isRepeated
    return {
      ip: ip === null ? undefined : enter(ipWindow(ip), isNew),
      key: key && enter(keyWindow(key.id), isNew),
    }
  })
  const subjects = [...requests.keys()].sort()
  const places = new Map(subjects.map((subject, index) => [subject, index + 1]))
  // The totals that turn ranks into offsets are only known now.
  const placeOf = ({ subject, rank }: { subject: string; rank: number }): WindowPlace => ({
    place: places.get(subject) as number,
    offset: rank - (requests.get(subject) as number),
  })
  return {
    subjects,
    subjectRequests: subjects.map((subject) => requests.get(subject) as number),
    byAttempt: entered.map(({ ip, key }) => ({
      ip: ip && placeOf(ip),
      key: key && placeOf(key),
    })),
  }
}

/** A `ledger_attempt`; most of it is null for a request that is only counted. */
function attemptText(work: Asking, { ip, key }: AttemptWindows): string {
  const windows = {
    key_place: key?.place,
    key_offset: key?.offset,
    ip_place: ip?.place,
    ip_offset: ip?.offset,
  }
  const fields =
    work.kind === 'attempt'
      ? attemptFields(work.attempt)
      : {
          is_repeated: false,
          api_key_id: work.count.key?.id,
          requests_per_minute: work.count.key?.requestsPerMinute,
          ip_requests_per_minute: work.count.ipLimit,
        }
  return compositeText(inOrder(ATTEMPT_FIELDS, { ...fields, ...windows }))
}
