import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { Share2, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, type Answer } from '../../api/client.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../components/Table.tsx'
import { brl } from '../../format/brl.ts'
import { wholeNumber } from '../../format/number.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'
import { referralLink } from '../../lib/referral-code.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

type Referrals = Answer<'get', '/me/referrals'>
type Referred = Referrals['referred_users'][number]

const PAGE = 50

const referralsQuery = infiniteQueryOptions({
  queryKey: ['referrals'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/me/referrals', {
      query: { limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
      signal,
    }),
  ...cursorPages,
})

export function ReferralsPage() {
  const found = useInfiniteQuery(referralsQuery)
  const [first] = found.data?.pages ?? []
  return (
    <>
      <PageTitle
        title={t('Indicações')}
        description={t(
          'Indique a Catraca a quem usa IA: você ganha saldo quando a pessoa continua usando.',
        )}
      />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Carregando as indicações')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {first && (
        <div className="grid gap-5">
          <div className="grid gap-5 lg:grid-cols-2">
            <Code code={first.referral_code} />
            <Statistics statistics={first.statistics} />
          </div>
          <Rule rule={first.reward_rule} />
          <Card title={t('Pessoas indicadas')}>
            <ReferredPeople
              people={found.data?.pages.flatMap((page) => page.referred_users) ?? []}
            />
          </Card>
          <LoadMore query={found} />
        </div>
      )}
    </>
  )
}

function Code({ code }: { readonly code: string }) {
  const link = referralLink(code)
  const message = t(
    'Uso a Catraca para chamar modelos de IA e pagar em reais, por Pix. Crie sua conta por aqui: {link}',
    { link },
  )
  return (
    <Card
      title={t('Seu código')}
      description={t('Quem abre o seu link já encontra o código preenchido ao criar a conta.')}
    >
      <p className="mb-4 rounded-lg bg-sunken px-4 py-3 text-center font-mono text-2xl font-semibold tracking-[0.2em]">
        {code}
      </p>
      <div className="flex flex-wrap gap-3">
        <CopyButton text={link} label={t('Copiar o link')} variant="primary" />
        <CopyButton text={code} label={t('Copiar o código')} />
        {/* Only on devices that have a share menu. */}
        {typeof navigator.share === 'function' && (
          <Button
            variant="secondary"
            icon={<Share2 aria-hidden="true" className="size-4" />}
            // A rejection means that the menu was closed.
            onClick={() => void navigator.share({ text: message }).catch(() => {})}
          >
            {t('Compartilhar')}
          </Button>
        )}
        <a
          href={`https://wa.me/?text=${encodeURIComponent(message)}`}
          target="_blank"
          rel="noreferrer"
          className={buttonClass('quiet')}
        >
          {t('Enviar no WhatsApp')}
        </a>
      </div>
    </Card>
  )
}

function Rule({ rule }: { readonly rule: Referrals['reward_rule'] }) {
  if (rule.reward_brl === 0) return null
  return (
    <Card title={t('Quando vem a recompensa')}>
      <p className="text-muted">
        <Trans
          id="Você ganha {rewardBrl} em crédito promocional por pessoa quando a primeira recarga dela faz {withdrawalDays} dias sem ser devolvida nem contestada, e ela já gastou {spendingMinBrl} do que pagou. Cada CPF ou CNPJ conta uma vez. O crédito promocional é gasto primeiro e não é reembolsado; se a pessoa contestar o pagamento depois, o que ainda houver dele é estornado."
          values={{
            rewardBrl: brl(rule.reward_brl),
            withdrawalDays: wholeNumber(rule.withdrawal_days),
            spendingMinBrl: brl(rule.spending_min_brl),
          }}
        />
      </p>
    </Card>
  )
}

function Statistics({ statistics }: { readonly statistics: Referrals['statistics'] }) {
  return (
    <Card title={t('Até agora')}>
      <dl className="grid grid-cols-3 gap-4">
        <Figure name={t('Vieram')}>{wholeNumber(statistics.registered)}</Figure>
        <Figure name={t('Com recompensa')}>{wholeNumber(statistics.rewarded)}</Figure>
        <Figure name={t('Você ganhou')}>{brl(statistics.total_reward_brl)}</Figure>
      </dl>
    </Card>
  )
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col-reverse justify-end gap-1">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-2xl font-semibold tabular-nums">{children}</dd>
    </div>
  )
}

function ReferredPeople({ people }: { readonly people: readonly Referred[] }) {
  if (people.length === 0)
    return (
      <EmptyState icon={<Users className="size-6" />} title={t('Ninguém ainda')}>
        {t(
          'Envie seu link a um colega: quem vier por ele aparece aqui, só com a primeira letra do nome.',
        )}
      </EmptyState>
    )
  return (
    <Table
      caption={t('Quem veio pelo seu código, os mais novos primeiro')}
      columns={COLUMNS()}
      rows={people}
      rowKey={({ registered_at, name }) => `${registered_at} ${name}`}
    />
  )
}

const COLUMNS = perLanguage((): readonly Column<Referred>[] => [
  { key: 'name', header: t('Quem'), cell: ({ name }) => name ?? t('conta excluída') },
  {
    key: 'registered',
    header: t('Entrou em'),
    cell: ({ registered_at }) => <DateTime instant={registered_at} isDateOnly />,
  },
  {
    key: 'status',
    header: t('Situação'),
    cell: ({ status }) =>
      status === 'rewarded' ? (
        <Badge tone="success">{t('recompensada')}</Badge>
      ) : status === 'taken_back' ? (
        <Badge tone="warning">{t('estornada')}</Badge>
      ) : (
        <Badge>{t('ainda sem recompensa')}</Badge>
      ),
  },
  {
    key: 'reward',
    header: t('Você ganhou'),
    isNumeric: true,
    cell: ({ reward_brl, taken_back_brl }) =>
      reward_brl === null ? '–' : brl(reward_brl - (taken_back_brl ?? 0)),
  },
])
