import { Link } from '@tanstack/react-router'
import { Badge } from '../../components/Badge.tsx'
import { counted } from '../../format/number.ts'
import { CapBar } from './CapBar.tsx'
import type { Team } from './team-queries.ts'
import { RANK_WORDS } from './team-words.ts'
import { t } from '../../language/t.ts'

export function TeamEntry({ team }: { readonly team: Team }) {
  const { text, tone } = RANK_WORDS()[team.role]
  return (
    <li className="grid content-between gap-4 rounded-card border border-line bg-surface p-5 shadow-card">
      <div>
        <h2 className="flex flex-wrap items-center gap-2 font-semibold">
          <Link
            to="/equipes/$id"
            params={{ id: team.id }}
            className="break-words underline decoration-line-strong underline-offset-4 hover:decoration-accent"
          >
            {team.name}
          </Link>
          <Badge tone={tone}>{text}</Badge>
        </h2>
        <p className="mt-1 text-sm text-muted">
          {team.role === 'owner'
            ? t('Gasta o seu saldo')
            : t('Gasta o saldo de {owner}', { owner: team.owner })}{' '}
          · {/* Adds the owner, whom the API does not count as a member. */}
          {counted(team.member_count + 1, t('pessoa'), t('pessoas'))} ·{' '}
          {counted(team.key_count, t('chave'), t('chaves'))}
        </p>
      </div>
      <CapBar team={team} />
    </li>
  )
}
