import { brl } from '../../format/brl.ts'
import { Card } from '../../components/Card.tsx'
import { t } from '../../language/t.ts'

export function SevenDays({ minimum }: { readonly minimum: number | undefined }) {
  return (
    <Card title={t('Como funciona')}>
      <dl className="grid gap-4 text-sm">
        <Item term={t('Nos primeiros 7 dias')}>
          {t(
            'Pagou e se arrependeu? A lei (art. 49 do Código de Defesa do Consumidor) deixa você desistir em até 7 dias, sem explicar o motivo. Devolvemos o que não foi gasto, qualquer valor, sem análise.',
          )}
        </Item>
        <Item term={t('Depois dos 7 dias')}>
          {t(
            'O que sobrou continua sendo seu. O reembolso tem um valor mínimo{word}, e um valor alto pode passar por uma análise nossa antes.',
            { word: minimum === undefined ? '' : t(' de {minimum}', { minimum: brl(minimum) }) },
          )}
        </Item>
        <Item term={t('Para onde vai')}>
          {t(
            'Para onde o dinheiro saiu: a mesma conta do Pix ou o mesmo cartão. Boleto e pagamentos antigos são devolvidos por transferência, e falamos com você. Começamos pela recarga mais nova.',
          )}
        </Item>
        <Item term={t('O que não volta')}>
          {t('O que já foi gasto em chamadas e o crédito que você ganhou sem pagar.')}
        </Item>
      </dl>
    </Card>
  )
}

function Item({ term, children }: { readonly term: string; readonly children: string }) {
  return (
    <div>
      <dt className="font-semibold">{term}</dt>
      <dd className="mt-0.5 text-muted">{children}</dd>
    </div>
  )
}
