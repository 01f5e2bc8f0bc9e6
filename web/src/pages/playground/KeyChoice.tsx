import { KeyRound } from 'lucide-react'
import { Select } from '../../components/Select.tsx'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'

/** Selects the key that pays. A team's key pays from the team's owner's balance, so its option says so. */
export function KeyChoice({
  view: { keys, apiKey, chooseKey },
}: {
  readonly view: PlaygroundView
}) {
  if (keys.length === 0) return null
  return (
    <div className="relative">
      <KeyRound
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
      />
      <Select
        aria-label={t('Pagar com a chave')}
        title={t('Pagar com a chave')}
        className="truncate pl-9"
        value={apiKey?.id ?? ''}
        onChange={(event) => chooseKey(event.target.value)}
      >
        {!apiKey && <option value="">{t('Escolha a chave que paga')}</option>}
        {keys.map(({ id, name, last_four, team_id }) => (
          <option key={id} value={id}>
            {name} (…{last_four}){team_id !== null && t(' · equipe')}
          </option>
        ))}
      </Select>
    </div>
  )
}
