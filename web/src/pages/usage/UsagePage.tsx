import { Tabs } from 'radix-ui'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useFilterSteps } from '../../lib/use-filters.ts'
import { BalanceSum } from './BalanceSum.tsx'
import { ChargeFilterFields } from './ChargeFilterFields.tsx'
import { ChargeLog } from './ChargeLog.tsx'
import { ExportUsage } from './ExportUsage.tsx'
import { SaveCalls } from './SaveCalls.tsx'
import { SpendView } from './SpendView.tsx'
import { RefusalView } from './RefusalView.tsx'
import { UsageByKey } from './UsageByKey.tsx'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const VIEWS = perLanguage(
  () =>
    [
      ['chamadas', t('Chamadas')],
      ['recusadas', t('Recusadas')],
      ['gasto', t('Gasto')],
      ['chaves', t('Por chave')],
    ] as const,
)

export function UsagePage() {
  const [{ ver }, change] = useFilterSteps('ver', 'chave', ...PERIOD)
  return (
    <>
      <PageTitle
        title={t('Uso')}
        description={t(
          'Todas as chamadas, inclusive as que falharam, com o cálculo de cada valor, até o último centavo.',
        )}
        actions={<ExportUsage />}
      />
      <BalanceSum />
      <Tabs.Root
        value={VIEWS().some(([value]) => value === ver) ? ver : 'chamadas'}
        onValueChange={(value) => change({ ver: value === 'chamadas' ? '' : value })}
        className="grid gap-5"
      >
        <Tabs.List
          aria-label={t('Como ver o uso')}
          className="flex flex-wrap gap-1 border-b border-line"
        >
          {VIEWS().map(([value, text]) => (
            <Tabs.Trigger
              key={value}
              value={value}
              className="-mb-px min-h-11 border-b-2 border-transparent px-3 text-sm whitespace-nowrap max-sm:px-2 font-medium text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {text}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="chamadas" className="grid gap-5" tabIndex={-1}>
          <Charges />
        </Tabs.Content>
        <Tabs.Content value="recusadas" tabIndex={-1}>
          <RefusalView />
        </Tabs.Content>
        <Tabs.Content value="gasto" tabIndex={-1}>
          <SpendView />
        </Tabs.Content>
        <Tabs.Content value="chaves" tabIndex={-1}>
          <UsageByKey onChoose={(chave) => change({ ver: '', chave })} />
        </Tabs.Content>
      </Tabs.Root>
    </>
  )
}

function Charges() {
  const [{ ordem, ver: _, ...filters }, change] = useFilterSteps(...FILTERS, 'ordem', 'ver')
  return (
    <>
      <ChargeFilterFields filters={filters} onChange={change} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-sm text-muted">
          <Trans
            id="Chamadas recusadas antes de chegar a um modelo não custam nada e são contadas em {link}."
            values={{
              link: (
                <button
                  type="button"
                  className="min-h-6 text-accent underline underline-offset-4"
                  onClick={() => change({ ver: 'recusadas' })}
                >
                  {t('Recusadas')}
                </button>
              ),
            }}
          />
        </p>
        <SaveCalls filters={filters} />
      </div>
      <ChargeLog
        filters={filters}
        order={ordem}
        onOrder={(order) => change({ ordem: order })}
        onClear={() => change(NO_FILTERS)}
      />
    </>
  )
}

const PERIOD = ['de', 'ate'] as const
const FILTERS = ['modelo', 'chave', 'sessao', 'situacao', ...PERIOD] as const
const NO_FILTERS = { modelo: '', chave: '', sessao: '', situacao: '', de: '', ate: '' }
