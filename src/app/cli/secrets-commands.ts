import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { rotateSecrets } from '../rotate-secrets.ts'
import { countSealed } from '../../platform/db/reseal.ts'
import { UsageError, type Command } from './command.ts'

export const secretsCommands: Record<string, Command> = {
  'secrets rotate': {
    usage: '',
    about:
      'seal anew, with SECRETS_KEY, what SECRETS_KEY_PREVIOUS sealed; beside running servers, as often as you like',
    async run({ db, config: { secretsKey: current, secretsKeyPrevious: previous } }) {
      if (!current || !previous)
        throw new UsageError('SECRETS_KEY and SECRETS_KEY_PREVIOUS are needed: the new and the old')
      const { resealed, damaged } = await rotateSecrets(db, OPERATOR, { current, previous })
      const left = await countSealed(db, { current, previous })
      const lost = left.unknown > 0 ? [`${left.unknown} cannot be opened with either key`] : []
      const text = [
        `${resealed} sealed anew`,
        left.previous === 0
          ? 'SECRETS_KEY_PREVIOUS seals nothing any more'
          : `${left.previous} are still sealed with SECRETS_KEY_PREVIOUS`,
        ...lost,
        ...damaged.map((row) => `damaged: ${row}`),
      ]
      return {
        data: { resealed, damaged, sealed: left },
        text: text.join('\n'),
        exitCode: left.previous + left.unknown === 0 ? 0 : 1,
      }
    },
  },
}
