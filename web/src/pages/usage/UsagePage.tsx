import { Tabs } from 'radix-ui'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useFilters } from '../../lib/use-filters.ts'
import { BalanceSum } from './BalanceSum.tsx'
import { ChargeFilterFields } from './ChargeFilterFields.tsx'
import { ChargeLog } from './ChargeLog.tsx'
import { ExportUsage } from './ExportUsage.tsx'
import { UsageByKey } from './UsageByKey.tsx'

const VIEWS = [
  ['chamadas', 'Chamadas'],
  ['chaves', 'Por chave'],
] as const

export function UsagePage() {
  const [{ ver }, change] = useFilters('ver', 'chave')
  return (
    <>
      <PageTitle
        title="Uso"
        description="Cada chamada cobrada, com a conta que levou ao valor, até o último centavo."
        actions={<ExportUsage />}
      />
      <BalanceSum />
      <Tabs.Root
        value={ver === 'chaves' ? 'chaves' : 'chamadas'}
        onValueChange={(value) => change({ ver: value === 'chaves' ? value : '' })}
        className="grid gap-5"
      >
        <Tabs.List aria-label="Como ver o uso" className="flex gap-1 border-b border-line">
          {VIEWS.map(([value, text]) => (
            <Tabs.Trigger
              key={value}
              value={value}
              className="-mb-px min-h-11 border-b-2 border-transparent px-3 text-sm font-medium text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {text}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="chamadas" className="grid gap-5" tabIndex={-1}>
          <Charges />
        </Tabs.Content>
        <Tabs.Content value="chaves" tabIndex={-1}>
          <UsageByKey onChoose={(chave) => change({ ver: '', chave })} />
        </Tabs.Content>
      </Tabs.Root>
    </>
  )
}

function Charges() {
  const [filters, change] = useFilters('modelo', 'chave', 'sessao', 'de', 'ate')
  return (
    <>
      <ChargeFilterFields filters={filters} onChange={change} />
      <ChargeLog filters={filters} onClear={() => change(NO_FILTERS)} />
    </>
  )
}

const NO_FILTERS = { modelo: '', chave: '', sessao: '', de: '', ate: '' }
