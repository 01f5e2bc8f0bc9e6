import { Download } from 'lucide-react'
import { urlOf } from '../../api/client.ts'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { t } from '../../language/t.ts'

export function DataExport() {
  return (
    <Card
      title={t('Seus dados, com você')}
      description={t(
        'A LGPD dá a você o direito a uma cópia de tudo o que guardamos: perfil, chaves (sem os segredos), recargas, consumo e registros.',
      )}
    >
      {/* The browser saves the answer as a file, because its header says so. */}
      <a href={urlOf('/me/export')} download className={buttonClass('secondary')}>
        <Download aria-hidden="true" className="size-4" />
        {t('Baixar meus dados (JSON)')}
      </a>
    </Card>
  )
}
