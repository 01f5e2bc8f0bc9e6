import { backupCommands } from './backup-commands.ts'
import { cellCommands } from './cell-commands.ts'
import type { Command, OfflineCommand } from './command.ts'
import { customerCommands } from './customer-commands.ts'
import { fxCommands } from './fx-commands.ts'
import { incidentCommands } from './incident-commands.ts'
import { keyCommands } from './key-commands.ts'
import { monthCommands } from './month-commands.ts'
import { personalDataCommands } from './personal-data-commands.ts'
import { priceCommands } from './price-commands.ts'
import { reconciliationCommands } from './reconciliation-commands.ts'
import { sandboxCommands } from './sandbox-commands.ts'
import { secretsCommands } from './secrets-commands.ts'
import { serviceCommands } from './service-commands.ts'

/** Commands by their words: `customer create`, `audit`. */
export const commands: Readonly<Record<string, Command | OfflineCommand>> = {
  ...customerCommands,
  ...personalDataCommands,
  ...keyCommands,
  ...incidentCommands,
  ...reconciliationCommands,
  ...sandboxCommands,
  ...secretsCommands,
  ...fxCommands,
  ...priceCommands,
  ...serviceCommands,
  ...backupCommands,
  ...cellCommands,
  ...monthCommands,
}
