import { join } from 'node:path'
import type { KeptNotes } from '../money/ledger/deliveries/keep-notes.ts'
import { openDeliveryNotes, type DeliveryNotes } from '../money/ledger/deliveries/delivery-notes.ts'
import type { LaneObserver } from '../money/ledger/lane/lane.ts'
import type { LeaseView } from '../money/ledger/lease.ts'
import { openLedger, type Ledger } from '../money/ledger/open-ledger.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Config } from './config/config.ts'
import { createClosing, type Closable } from './create-closing.ts'

/** The ledger, and the files that this node keeps for it in `DATA_DIR`. */
export interface NodeLedger extends Closable {
  readonly ledger: Ledger
  readonly deliveries: DeliveryNotes
  readonly deliveriesDir: string
  readonly keptNotes: KeptNotes
}

/**
 * Returns the folders of a node's delivery notes in its data folder: of those that are written, and of those that were
 * compared.
 */
export function deliveryFolders(dataDir: string): { current: string; compared: string } {
  return { current: join(dataDir, 'delivered'), compared: join(dataDir, 'delivered-compared') }
}

export async function openNodeLedger(options: {
  readonly config: Pick<Config, 'dataDir' | 'ledgerLanes' | 'deliveryNotesHours'>
  readonly databaseUrl: string
  readonly lease: LeaseView
  readonly takesOverSpool: boolean
  readonly observer: LaneObserver
  readonly log: Log
}): Promise<NodeLedger> {
  const { config, databaseUrl, lease, observer, log } = options
  const closing = createClosing(log)
  const ledger = await openLedger({
    databaseUrl,
    lease,
    laneCount: config.ledgerLanes,
    spoolDir: join(config.dataDir, 'spool'),
    takesOverSpool: options.takesOverSpool,
    log,
    observer,
  })
  closing.add('lanes', ledger)
  // Settlements that an earlier process spooled on this disk are applied before any estimate of their holds.
  await ledger.replaySpool()
  const { current: deliveriesDir, compared } = deliveryFolders(config.dataDir)
  const deliveries = await openDeliveryNotes({ dir: deliveriesDir, nodeId: lease.nodeId(), log })
  closing.add('delivery notes', deliveries)
  const keptNotes = { dir: compared, hours: config.deliveryNotesHours }
  return { ledger, deliveries, deliveriesDir, keptNotes, close: () => closing.close() }
}
