package io.sessionkit.internal;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;

import static org.assertj.core.api.Assertions.assertThat;

class ThrownTests {

	private final Exception thrown = new IOException("as asked");

	@Test
	void whatOnlyCarriesAnExceptionIsLeftOut() {
		List<Throwable> carriers = List.of(new CompletionException(this.thrown), new ExecutionException(this.thrown),
				new UndeclaredThrowableException(this.thrown), new RuntimeException(this.thrown),
				Exceptions.propagate(this.thrown), Exceptions.bubble(this.thrown),
				new CompletionException(Exceptions.propagate(new RuntimeException("more", this.thrown))));
		assertThat(carriers).extracting(Thrown::cause).containsOnly(this.thrown);
		LinkageError error = new LinkageError();
		assertThat(Thrown.cause(CarriedError.carrying(error))).isSameAs(error);
	}

	@Test
	void exceptionOfAClassOfItsOwnIsItself() {
		List<Throwable> themselves = List.of(this.thrown, new IllegalStateException(this.thrown),
				new RuntimeException("no cause"), new CompletionException("no cause", null), new Exception(this.thrown),
				new Error(this.thrown));
		assertThat(themselves).allSatisfy((each) -> assertThat(Thrown.cause(each)).isSameAs(each));
	}

}
