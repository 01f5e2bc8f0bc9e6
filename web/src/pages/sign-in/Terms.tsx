import { t } from '../../language/t.ts'

/** The terms of use (src/customers/legal) in short; the documents themselves are accepted. */
export function Terms() {
  return (
    <details className="text-sm text-muted">
      <summary className="inline-flex min-h-11 items-center underline underline-offset-4 md:min-h-8">
        {t('Os termos em resumo')}
      </summary>
      <ul className="mt-2 flex list-disc flex-col gap-2 pl-5">
        <li>{t('Você paga antes e usa o saldo. Não há mensalidade nem cobrança sem saldo.')}</li>
        <li>
          {t(
            'Cada chamada mostra quanto custou em reais: o preço do fabricante, o câmbio e o multiplicador.',
          )}
        </li>
        <li>
          {t(
            'Uma requisição que falha antes da resposta não é cobrada. Se você interrompe uma resposta que já começou, ou um modelo que está raciocinando, paga o que o modelo gerou; se interrompe antes disso, paga o texto enviado.',
          )}
        </li>
        <li>{t('Dentro de 7 dias da recarga, o que não foi usado pode ser devolvido a você.')}</li>
        <li>{t('Quem tem uma chave sua gasta o seu saldo: guarde suas chaves bem.')}</li>
        <li>
          {t(
            'Tratamos seus dados conforme a LGPD. Você pode baixar tudo e apagar a conta quando quiser.',
          )}
        </li>
      </ul>
    </details>
  )
}
