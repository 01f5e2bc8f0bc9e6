import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { ShieldForm } from './ShieldForm.tsx'
import { ShieldReportTable } from './ShieldReportTable.tsx'
import { shieldQuery, shieldReportQuery } from './shield-queries.ts'
import { t } from '../../language/t.ts'

export function ShieldCard() {
  const shield = useQuery(shieldQuery)
  const report = useQuery(shieldReportQuery)
  return (
    <Card
      title={t('Proteção de dados pessoais (LGPD)')}
      description={t(
        'CPF, CNPJ, e-mail, telefone, cartão e chave Pix nos textos das suas chamadas. Imagens e arquivos não são lidos.',
      )}
    >
      <div className="grid gap-6">
        {shield.isError && (
          <ErrorState error={shield.error} onRetry={() => void shield.refetch()} />
        )}
        {shield.data && <ShieldForm shield={shield.data} />}
        {report.isError && (
          <ErrorState error={report.error} onRetry={() => void report.refetch()} />
        )}
        {report.data && <ShieldReportTable report={report.data} />}
      </div>
    </Card>
  )
}
